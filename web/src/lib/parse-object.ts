import { texts } from '../texts/index.ts'
import { type JsonObject, isObject } from './json.ts'

/** Throws with words for people if the text is not a JSON object. */
export function parseObject(json: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw new Error(texts.form.notJson)
  }
  if (!isObject(value)) throw new Error(texts.form.notJson)
  return value
}
