import { Pool } from 'undici'
import type { BenchContext } from '../environment.ts'
import type { Timing } from '../load.ts'

/** Requests over connections that stay open, as cheaply as a client in this process can make them. */
export function createClient(origin: string) {
  const pool = new Pool(origin, { connections: 128, keepAliveTimeout: 60_000, headersTimeout: 0, bodyTimeout: 0 })
  async function send(
    path: string,
    { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: object } = {},
    isFirst: (text: string) => boolean = () => true,
  ): Promise<Timing & { text: string }> {
    const startedAt = performance.now()
    const answer = await pool.request({
      path,
      method,
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    })
    let text = ''
    let first: number | undefined
    answer.body.setEncoding('utf8')
    for await (const part of answer.body) {
      text += String(part)
      if (first === undefined && isFirst(text)) first = performance.now() - startedAt
    }
    const whole = performance.now() - startedAt
    if (answer.statusCode >= 300)
      throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text.slice(0, 300)}`)
    return { text, first: first ?? whole, whole }
  }
  return { send, close: () => pool.close() }
}

export type Client = ReturnType<typeof createClient>

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
