import { setTimeout as pause } from 'node:timers/promises'
import Type from 'typebox'
import Value from 'typebox/value'

const Message = Type.Object({ type: Type.String(), data: Type.Object({ content: Type.Unknown() }) })
const State = Type.Object({ values: Type.Object({ messages: Type.Array(Message) }) })
const question = 'What can you do for me? Please tell me in a few sentences.'
const limitMs = 120_000

type Fetch = (url: string, init?: RequestInit) => Promise<Response>

/** A user who asks the same question again and again; the demo model always answers in the same words. */
export async function createAsker(send: Fetch, url: string, token: string) {
  const request = (method: string, route: string, body?: unknown) =>
    send(`${url}${route}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    })

  async function made(route: string, body: object, member: string): Promise<string> {
    const response = await request('POST', route, body)
    const answer: unknown = await response.json()
    const id = Value.Check(Type.Record(Type.String(), Type.Unknown()), answer) ? answer[member] : undefined
    if (typeof id !== 'string') throw new Error(`POST ${route} answered ${response.status}`)
    return id
  }

  async function answersIn(thread: string): Promise<string[]> {
    const state: unknown = await request('GET', `/threads/${thread}/state`).then(
      (response) => response.json(),
      () => undefined,
    )
    if (!Value.Check(State, state)) return []
    const { messages } = state.values
    if (messages.length > 2) throw new Error(`the thread has ${messages.length} messages`)
    return messages.flatMap(({ type, data }) => (type === 'AIMessage' ? [String(data.content)] : []))
  }

  const assistant = await made('/assistants/', { name: 'Faults' }, 'assistant_id')
  let expected: string | undefined

  async function askDuring(during: () => Promise<unknown>): Promise<number> {
    const thread = await made('/threads/', { name: 'Faults', assistant_id: assistant }, 'thread_id')
    const response = await request('POST', '/runs/stream', {
      thread_id: thread,
      input: [{ type: 'human', content: question }],
      config: { configurable: { assistant_id: assistant, thread_id: thread } },
    })
    if (!response.ok || response.body === null) throw new Error(`the run was refused with ${response.status}`)
    // The first words are on their way.
    const reader = response.body.getReader()
    for (let read = 0; read < 5; read++) if ((await reader.read()).done) break
    await during()
    void reader.cancel().catch(() => undefined)
    const since = Date.now()
    for (;;) {
      const [answer] = await answersIn(thread)
      if (answer !== undefined && answer === (expected ??= answer)) return (Date.now() - since) / 1000
      if (Date.now() - since > limitMs)
        throw new Error(`no whole answer within ${limitMs / 1000} s: ${answer ?? 'none'}`)
      await pause(500)
    }
  }

  await askDuring(async () => undefined)
  return { askDuring }
}
