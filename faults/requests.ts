import { type Answer, type CallOptions, type Caller, GaveUpError } from './caller.ts'
import type { ClientLog, Intention, IntentionKind } from './client-log.ts'

export type Requests = ReturnType<typeof createRequests>

/** Requests that log their intention before they are sent, and the acknowledgement after it. */
export function createRequests({ caller, log }: { caller: Caller; log: ClientLog }) {
  /**
   * Repeats the request until its answer is definite. Any status other than 200 (or one of `accepted`) is a fault
   * of the service.
   */
  async function want(
    kind: IntentionKind,
    facts: Record<string, string>,
    ask: (intention: Intention) => { method: string; path: string; options: CallOptions; accepted?: number[] },
  ): Promise<{ intention: Intention; answer: Answer } | undefined> {
    const intention = log.intend(kind, facts)
    const { method, path, options, accepted = [] } = ask(intention)
    try {
      const answer = await caller.call(method, path, options)
      if (![200, ...accepted].includes(answer.status)) {
        log.giveUp(intention, `${answer.status} ${JSON.stringify(answer.body)}`)
        log.fault(
          'wrong',
          intention,
          `${method} ${path} was answered ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`,
        )
        return undefined
      }
      return { intention, answer }
    } catch (error) {
      if (!(error instanceof GaveUpError)) throw error
      log.giveUp(intention, error.message)
      log.fault('wrong', intention, `no answer in time: ${error.message}`)
      return undefined
    }
  }

  async function create(
    kind: IntentionKind,
    {
      path,
      token,
      idMember,
      body,
      facts = {},
    }: {
      path: string
      token: string
      idMember: string
      body: (id: string) => object
      facts?: Record<string, string>
    },
  ): Promise<{ intention: Intention; body: Record<string, unknown> } | undefined> {
    const done = await want(kind, facts, ({ id }) => ({
      method: 'POST',
      path,
      options: { token, key: id, body: body(id) },
    }))
    if (done === undefined) return undefined
    log.acknowledge(done.intention, { id: String(done.answer.body[idMember]) })
    return { intention: done.intention, body: done.answer.body }
  }

  return { want, create }
}
