import { texts } from '../texts/index.ts'

export type JsonObject = Record<string, unknown>

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

export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
