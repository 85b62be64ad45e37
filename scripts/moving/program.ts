import OpenAI from 'openai'
import { messageOf } from './request-in-parts.ts'

const local = 'http://127.0.0.1:8100/v1'
const retries = 5

/** The client of a command line; undefined without a key. Waits and repeats what a busy or restarting server refuses. */
export function clientOf({ url, key }: { url?: string | undefined; key?: string | undefined }): OpenAI | undefined {
  const apiKey = key ?? process.env['ASSISTANTS_KEY']
  if (apiKey === undefined) return undefined
  return new OpenAI({ baseURL: url ?? local, apiKey, maxRetries: retries })
}

/** Says at most every two seconds how far a long run is, and at the end of each kind. */
export function printEvery(print: (line: string) => void, everyMs = 2000) {
  let next = 0
  return (kind: string, done: number, all?: number) => {
    if (Date.now() < next && done !== all) return
    next = Date.now() + everyMs
    print(all === undefined ? `${kind}: ${done}` : `${kind}: ${done} of ${all}`)
  }
}

/** What a person is told of a failure. */
export function textOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : ''
  return messageOf(error) + cause
}
