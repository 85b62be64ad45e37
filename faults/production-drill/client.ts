import { setTimeout as pause } from 'node:timers/promises'
import Type from 'typebox'
import Value from 'typebox/value'
import { readEvents } from '../../test/support/sse.ts'
import { prompts } from '../stand-ins.ts'

const wordsOfAnswer = 60
const limitMs = 90_000

const State = Type.Object({
  values: Type.Object({
    messages: Type.Array(Type.Object({ type: Type.String(), data: Type.Object({ content: Type.Unknown() }) })),
  }),
})

/** A user of the installation, behind the proxy. */
export function createClient(url: string, token: string) {
  let questions = 0

  async function request(method: string, route: string, body?: unknown): Promise<Response> {
    return fetch(`${url}${route}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    })
  }

  async function read(method: string, route: string, body?: unknown): Promise<unknown> {
    const response = await request(method, route, body)
    if (!response.ok) throw new Error(`${method} ${route} answered ${response.status}: ${await response.text()}`)
    return response.json()
  }

  const idIn = (answer: unknown, name: string): string => {
    const value: unknown = Value.Check(Type.Record(Type.String(), Type.Unknown()), answer) ? answer[name] : undefined
    if (typeof value !== 'string') throw new Error(`the answer has no ${name}`)
    return value
  }

  const createAssistant = () => request('POST', '/assistants/', { name: 'Drill' })

  return {
    request,
    createAssistant,
    /**
     * Asks in a thread of its own, calls `during` when the first words have arrived, and waits until the thread has the
     * question and the whole answer, each once. Returns the seconds from the end of `during` until then.
     */
    async askDuring(during: () => Promise<unknown>): Promise<number> {
      const id = `i${++questions}x`
      const assistantId = idIn(await read('POST', '/assistants/', { name: 'Drill' }), 'assistant_id')
      const threadId = idIn(await read('POST', '/threads/', { name: id, assistant_id: assistantId }), 'thread_id')
      const response = await request('POST', '/runs/stream', {
        thread_id: threadId,
        input: [{ type: 'human', content: prompts.say(id, wordsOfAnswer) }],
        config: { configurable: { assistant_id: assistantId, thread_id: threadId } },
      })
      if (!response.ok) throw new Error(`the run was refused with ${response.status}: ${await response.text()}`)
      await firstWords(response)
      await during()
      const since = Date.now()
      const expected = prompts.answer(id, wordsOfAnswer)
      for (;;) {
        const state = await read('GET', `/threads/${threadId}/state`).catch(() => undefined)
        const contents = Value.Check(State, state) ? state.values.messages.map(({ data }) => data.content) : []
        const answers = contents.filter((content) => content === expected).length
        if (answers > 1 || contents.length > 2) throw new Error(`the thread has ${contents.length} messages`)
        if (answers === 1) return (Date.now() - since) / 1000
        if (Date.now() - since > limitMs) throw new Error(`no answer within ${limitMs / 1000} s`)
        await pause(200)
      }
    },
  }
}

export type Client = ReturnType<typeof createClient>

/** Reads until an event has words of the answer; the rest is not read. */
async function firstWords(response: Response): Promise<void> {
  for await (const { event, data } of readEvents(response)) if (event === 'data' && data.includes('Answer')) return
  throw new Error('the stream ended without an answer')
}
