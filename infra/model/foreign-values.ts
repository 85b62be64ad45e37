import { isJsonObject } from '../../domain/json.ts'
import { maxCallIndex } from '../../domain/messages.ts'
import { ModelFailure, type ModelFailureType } from '../../domain/model-failure.ts'

/** Members of what a model's server sends. Servers leave them out, or send null for them: both become undefined. */

export type JsonObject = Record<string, unknown>

export function objectAt(value: unknown, at: string): JsonObject | undefined {
  if (value === undefined || value === null) return undefined
  if (!isJsonObject(value)) throw invalid(`${at} must be an object`)
  return value
}

/** `Array.isArray` without its `any`. */
export function isArray(value: unknown): value is unknown[] {
  return Array.isArray(value)
}

export function arrayAt(value: unknown, at: string): unknown[] | undefined {
  if (value === undefined || value === null) return undefined
  if (!isArray(value)) throw invalid(`${at} must be an array`)
  if (value.length > maxCallIndex + 1) throw invalid(`${at} must not have more than ${maxCallIndex + 1} entries`)
  return value
}

export function stringAt(value: unknown, at: string, maxLength = Number.POSITIVE_INFINITY): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw invalid(`${at} must be a string`)
  if (value.length > maxLength) throw invalid(`${at} must not be longer than ${maxLength} characters`)
  return value
}

export function integerAt(value: unknown, at: string, max: number): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > max)
    throw invalid(`${at} must be an integer from 0 to ${max}`)
  return value
}

export function invalid(problem: string): ModelFailure {
  return refusal(`The model's server sent an answer that cannot be read: ${problem}.`, 'model_invalid_answer')
}

export function tooLong(problem: string): ModelFailure {
  return refusal(`The model's answer ${problem}.`, 'model_answer_too_long')
}

/** The server would do the same again, so it is not retried. */
function refusal(message: string, type: ModelFailureType): ModelFailure {
  return new ModelFailure(message, { statusCode: 502, type, retryable: false })
}

/**
 * An event whose calls have objects as arguments, with their JSON text in place of them. The client library would read
 * whole numbers beyond 2^53 as doubles; here they keep their digits.
 */
export function withArgumentTexts(data: string): string {
  if (!/"arguments"\s*:\s*[{[]/.test(data)) return data
  try {
    const event: unknown = JSON.parse(data, exactNumber)
    for (const called of functionsOf(event)) {
      const { arguments: given } = called
      if (typeof given === 'object' && given !== null) called['arguments'] = JSON.stringify(given)
    }
    return JSON.stringify(event)
  } catch {
    // The client library says what is wrong with it.
    return data
  }
}

/**
 * The event with the numbers that a double does not hold replaced by texts, within the values that `within` names: other
 * numbers stay such, because the client library requires them.
 */
export function rewrittenNumbers(
  data: string,
  { within, textOf }: { within(event: unknown): unknown[]; textOf(source: string): string },
): string {
  if (!/[0-9]{16}|[0-9][eE]|\.[0-9]{15}/.test(data)) return data
  const inexact = new Map<unknown, [key: string, source: string][]>()
  try {
    const event: unknown = JSON.parse(data, function note(this: unknown, key, one: unknown, context?: Source) {
      const source = context?.source
      if (typeof one !== 'number' || source === undefined || String(one) === source) return one
      const known = inexact.get(this)
      if (known === undefined) inexact.set(this, [[key, source]])
      else known.push([key, source])
      return one
    })
    if (inexact.size === 0) return data
    for (const value of within(event)) rewrite(value)
    return JSON.stringify(event)
  } catch {
    return data
  }

  function rewrite(value: unknown): void {
    if (typeof value !== 'object' || value === null) return
    for (const [key, source] of inexact.get(value) ?? []) Reflect.set(value, key, textOf(source))
    for (const inner of Object.values(value)) rewrite(inner)
  }
}

interface Source {
  source?: string
}

/** The value of the JSON text of a call's arguments, whose numbers keep their digits when it becomes JSON again. */
export function exactValue(text: string): unknown {
  try {
    return JSON.parse(text, exactNumber)
  } catch {
    return {}
  }
}

/** The functions that the choices of an event call. Members of this name elsewhere, in arguments, too, are data. */
function functionsOf(event: unknown): JsonObject[] {
  const chunks = isArray(event) ? event : [event]
  const choices = chunks.flatMap((one) => objectsIn(member(one, 'choices')))
  const messages = choices.flatMap(({ delta, message }) => objectsIn([delta, message]))
  return messages.flatMap(({ tool_calls: calls, function_call: old }) =>
    objectsIn([...objectsIn(isArray(calls) ? calls : [calls]).map((call) => call['function'] ?? call), old]),
  )
}

export function member(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined
}

export function objectsIn(value: unknown): JsonObject[] {
  return isArray(value) ? value.filter(isJsonObject) : []
}

/** `context.source` and `JSON.rawJSON` (ECMAScript proposal, in V8 since 11.4) are not in TypeScript's library yet. */
const rawJson: unknown = Reflect.get(JSON, 'rawJSON')

function exactNumber(this: unknown, _key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source
  const isExact = typeof value !== 'number' || source === undefined || String(value) === source
  return isExact || typeof rawJson !== 'function' ? value : Reflect.apply(rawJson, JSON, [source])
}
