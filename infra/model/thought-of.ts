import { isJsonObject } from '../../domain/is-json-object.ts'
import { type JsonObject, isArray } from './foreign-values.ts'

/** The text of a model's thinking. Servers that send several of these members send the same in each. */
export function thoughtOf(delta: JsonObject): string {
  return (
    textIn(delta['reasoning_content']) ||
    textIn(delta['reasoning']) ||
    textIn(delta['thinking']) ||
    textIn(delta['reasoning_text']) ||
    textIn(delta['reasoning_details'] ?? delta['thinking_blocks'])
  )
}

/** A text, an object that has one, or a list of them. */
function textIn(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (isArray(value)) return value.map((one) => textIn(one)).join('')
  if (!isJsonObject(value)) return ''
  const text = value['text'] ?? value['summary'] ?? value['thinking'] ?? value['content']
  return typeof text === 'string' ? text : ''
}
