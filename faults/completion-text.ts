import { isJsonObject } from '../domain/json.ts'
import { listIn } from './list-in.ts'

/** The text of a completion's stream; undefined if the stream is incomplete. */
export function streamedText(text: string): string | undefined {
  if (!text.includes('data: [DONE]')) return undefined
  const chunks = [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json = '{}']): unknown => JSON.parse(json))
  if (chunks.some((chunk) => isJsonObject(chunk) && 'error' in chunk)) return undefined
  return chunks.map((chunk) => contentIn(chunk, 'delta')).join('')
}

/** The text of a completion that was not streamed. */
export function completedText(text: string): string | undefined {
  const body: unknown = JSON.parse(text)
  return contentIn(body, 'message')
}

function contentIn(value: unknown, member: 'delta' | 'message'): string {
  const [choice] = listIn(isJsonObject(value) ? value['choices'] : undefined)
  const part: unknown = isJsonObject(choice) ? choice[member] : undefined
  return isJsonObject(part) && typeof part['content'] === 'string' ? part['content'] : ''
}
