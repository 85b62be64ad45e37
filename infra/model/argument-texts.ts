import { isJsonObject } from '../../domain/json.ts'
import { type JsonObject, isArray } from './foreign-values.ts'

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
