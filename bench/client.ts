import { Pool } from 'undici'
import type { Timing } from './load.ts'

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
