import { setTimeout as pause } from 'node:timers/promises'
import { type Caller, GaveUpError } from './caller.ts'
import type { ClientLog, Intention } from './client-log.ts'
import { completedText, streamedText } from './completion-text.ts'
import { type Followed, type createFollow, RefusedError } from './follow.ts'
import type { Random } from './random.ts'
import type { Assistant, User } from './record-actions.ts'
import type { Requests } from './requests.ts'
import { prompts } from './stand-ins.ts'

interface RunActionsDeps {
  requests: Requests
  caller: Caller
  log: ClientLog
  random: Random
  follow: ReturnType<typeof createFollow>
}

/** Runs and chat completions. */
export function createRunActions(deps: RunActionsDeps) {
  const { caller, log, random, follow } = deps
  /** Starts a run and follows its stream to the end. */
  async function streamedRun(
    user: User,
    {
      threadId,
      assistant,
      tools = false,
      isSteady = false,
      cancelAfterMs,
    }: {
      threadId: string
      assistant: Assistant
      tools?: boolean
      isSteady?: boolean
      cancelAfterMs?: number
    },
  ): Promise<void> {
    const { prompt, expected, facts } = tools ? toolQuestion(random) : wordsQuestion(random)
    const mayBeCancelled = cancelAfterMs !== undefined
    const intention = log.intend('run', { ...facts, thread: threadId, ...(mayBeCancelled && { cancelled: 'asked' }) })
    let cancelling: Promise<unknown> = Promise.resolve()
    const followed = await followLogged(intention, {
      intention,
      path: '/runs',
      options: { token: user.token, key: intention.id, body: payload(prompt(intention.id), threadId, assistant) },
      isSteady,
      onMetadata: (runId) => {
        if (!mayBeCancelled) return
        cancelling = pause(cancelAfterMs)
          .then(() => caller.call('POST', `/runs/${runId}/cancel`, { token: user.token }))
          .catch(() => undefined)
      },
    })
    await cancelling
    if (followed !== undefined) checkAnswer(intention, followed, expected(intention.id), { mayBeCancelled })
  }

  /** A run of a public caller on a thread of its own. */
  async function publicRun(assistant: Assistant): Promise<void> {
    const { prompt, expected, facts } = wordsQuestion(random)
    const intention = log.intend('run', { ...facts, assistant: assistant.id })
    const followed = await followLogged(intention, {
      intention,
      path: '/public/runs',
      options: {
        key: intention.id,
        headers: { 'x-public-bot-token': assistant.publicToken },
        body: { assistant_id: assistant.id, input: [{ type: 'human', content: prompt(intention.id) }] },
      },
      isSteady: false,
    })
    if (followed !== undefined) checkAnswer(intention, followed, expected(intention.id), { mayBeCancelled: false })
  }

  async function followLogged(
    intention: Intention,
    options: Parameters<typeof follow>[0],
  ): Promise<Followed | undefined> {
    try {
      return await follow(options)
    } catch (error) {
      if (!(error instanceof GaveUpError || error instanceof RefusedError)) throw error
      log.giveUp(intention, error.message)
      log.fault('wrong', intention, error.message)
      return undefined
    }
  }

  function checkAnswer(
    intention: Intention,
    { runId, threadId, end, error, messages, connections }: Followed,
    expected: string,
    { mayBeCancelled }: { mayBeCancelled: boolean },
  ): void {
    log.acknowledge(intention, { id: runId, thread: threadId, end, expected, connections: String(connections) })
    const wasCancelled = mayBeCancelled && end === 'error' && error.includes('"cancelled"')
    const answer = messages.findLast(({ type }) => type === 'AIMessage')?.data.content
    if (wasCancelled || (end === 'end' && answer === expected)) return
    const shown = end === 'error' ? error : `the answer is ${JSON.stringify(answer)}`
    log.fault('lost', intention, `run ${runId}: ${shown}`)
  }

  return {
    streamedRun,
    publicRun,
    backgroundRuns: createBackgroundRuns(deps),
    completion: createCompletions(deps),
  }
}

const payload = (prompt: string, threadId: string, assistant: Assistant) => ({
  thread_id: threadId,
  assistant_id: assistant.id,
  input: [{ type: 'human', content: prompt }],
})

/** What a model is asked and what it answers. Both contain the id of the intention. */
interface Question {
  prompt: (id: string) => string
  expected: (id: string) => string
  facts: Record<string, string>
}

function wordsQuestion(random: Random): Question {
  const words = random.between(5, 40)
  return {
    prompt: (id) => prompts.say(id, words),
    expected: (id) => prompts.answer(id, words),
    facts: { words: String(words) },
  }
}

function toolQuestion(random: Random): Question {
  const calls = random.between(1, 3)
  return {
    prompt: (id) => prompts.callTools(id, calls),
    expected: prompts.answerAfterTools,
    facts: { calls: String(calls) },
  }
}

/** Starts several runs on one thread at the same time, and polls until all have ended. */
function createBackgroundRuns({ requests: { want }, caller, log, random }: RunActionsDeps) {
  async function untilOver(user: User, intention: Intention, runId: string): Promise<void> {
    const deadline = Date.now() + caller.patienceMs
    while (Date.now() < deadline) {
      const { status, body } = await caller.call('GET', `/runs/${runId}`, { token: user.token })
      if (status !== 200 || !['pending', 'running'].includes(String(body['status']))) return
      await pause(250)
    }
    log.fault('lost', intention, `run ${runId} is not over in time`)
  }

  return async (user: User, threadId: string, assistant: Assistant, count: number): Promise<void> => {
    await Promise.all(
      Array.from({ length: count }, async () => {
        const { prompt, expected, facts } = wordsQuestion(random)
        const done = await want('run', { ...facts, thread: threadId }, ({ id }) => ({
          method: 'POST',
          path: '/runs/',
          options: { token: user.token, key: id, body: payload(prompt(id), threadId, assistant) },
        }))
        if (done === undefined) return
        const { intention, answer } = done
        const runId = String(answer.body['run_id'])
        log.acknowledge(intention, { id: runId, thread: threadId, expected: expected(intention.id) })
        await untilOver(user, intention, runId)
      }),
    )
  }
}

/** Chat completions. If a stream breaks, it is requested again under the same key. */
function createCompletions({ caller, log, random }: Pick<RunActionsDeps, 'caller' | 'log' | 'random'>) {
  const path = '/public/v1/chat/completions'

  /** The text of one answer, or why there is none; `isFinal` if a repetition would be answered in the same way. */
  async function ask(
    options: Parameters<Caller['attempt']>[2],
    isStreamed: boolean,
  ): Promise<{ content: string } | { problem: string; isFinal: boolean }> {
    try {
      const response = await caller.attempt('POST', path, options, AbortSignal.timeout(60_000))
      const text = await response.text()
      if (!response.ok) {
        const problem = `${response.status} ${text.slice(0, 200)}`
        return { problem, isFinal: caller.isDefinite(response, path, text) }
      }
      const content = isStreamed ? streamedText(text) : completedText(text)
      return content === undefined
        ? { problem: `an unfinished stream: ${text.slice(-300)}`, isFinal: false }
        : { content }
    } catch (error) {
      return { problem: String(error), isFinal: false }
    }
  }

  return async (assistant: Assistant, isStreamed: boolean): Promise<void> => {
    const { prompt, expected, facts } = wordsQuestion(random)
    const intention = log.intend('completion', { ...facts, assistant: assistant.id })
    const options = {
      token: assistant.publicToken,
      key: intention.id,
      body: { model: 'any', stream: isStreamed, messages: [{ role: 'user', content: prompt(intention.id) }] },
    }
    const deadline = Date.now() + caller.patienceMs
    let last = ''
    for (let attempts = 0; Date.now() < deadline; attempts++) {
      if (attempts > 0) await pause(Math.min(2_000, 100 * 2 ** attempts))
      const answer = await ask(options, isStreamed)
      if ('content' in answer) {
        const { content } = answer
        log.acknowledge(intention, { expected: expected(intention.id) })
        if (content !== expected(intention.id))
          log.fault('lost', intention, `the completion is ${JSON.stringify(content)}`)
        return
      }
      last = answer.problem
      if (answer.isFinal) break
    }
    log.giveUp(intention, last)
    log.fault('wrong', intention, last)
  }
}
