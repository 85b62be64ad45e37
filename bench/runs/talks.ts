import type { Client } from '../client.ts'
import type { BenchContext } from '../environment.ts'
import type { Timing } from '../load.ts'

export interface Talk {
  token: string
  assistantId: string
  threadId: string
}

/** A new user's assistant with a thread. */
export async function newTalk(context: BenchContext, client: Client, config: object = {}): Promise<Talk> {
  const token = await context.newToken()
  const assistant = await post(client, token, '/assistants/', { name: 'Bench', config })
  return newThread(client, { token, assistantId: String(assistant['assistant_id']) })
}

export async function newThread(client: Client, { token, assistantId }: Omit<Talk, 'threadId'>): Promise<Talk> {
  const thread = await post(client, token, '/threads/', { name: 'Bench' })
  return { token, assistantId, threadId: String(thread['thread_id']) }
}

async function post(client: Client, token: string, path: string, body: object): Promise<Record<string, unknown>> {
  const { text } = await client.send(path, { method: 'POST', headers: bearer(token), body })
  return JSON.parse(text) as Record<string, unknown>
}

/** One run on the thread, streamed to its end. */
export async function streamRun(
  client: Client,
  talk: Talk,
  content = 'Say something.',
): Promise<Timing & { text: string }> {
  const body = { thread_id: talk.threadId, assistant_id: talk.assistantId, input: [{ type: 'human', content }] }
  const answer = await client.send('/runs/stream', { method: 'POST', headers: bearer(talk.token), body }, (text) =>
    text.includes('event: data'),
  )
  if (!answer.text.includes('event: end')) throw new Error(`a run did not end well: ${answer.text.slice(-300)}`)
  return answer
}

/** A chat completion from any server with this API. */
export async function complete(
  client: Client,
  path: string,
  { token, stream }: { token: string; stream: boolean },
): Promise<Timing> {
  const body = { model: 'bare', messages: [{ role: 'user', content: 'Say something.' }], stream }
  const answer = await client.send(path, { method: 'POST', headers: bearer(token), body }, (text) =>
    /"content":\s*"[^"]/.test(text),
  )
  if (!answer.text.includes(stream ? '[DONE]' : 'word19'))
    throw new Error(`no whole answer: ${answer.text.slice(-300)}`)
  return answer
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
