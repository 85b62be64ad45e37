import { isJsonObject } from '../../domain/is-json-object.ts'
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

/** The functions that the choices of an event call. Members of this name elsewhere, in arguments, too, are data. */
function functionsOf(event: unknown): JsonObject[] {
  const messages = objectsIn(member(event, 'choices')).flatMap(({ delta, message }) => objectsIn([delta, message]))
  return messages.flatMap(({ tool_calls: calls, function_call: old }) =>
    objectsIn([...objectsIn(calls).map((call) => call['function']), old]),
  )
}

function member(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined
}

function objectsIn(value: unknown): JsonObject[] {
  return isArray(value) ? value.filter(isJsonObject) : []
}

/** `context.source` and `JSON.rawJSON` (ECMAScript proposal, in V8 since 11.4) are not in TypeScript's library yet. */
const rawJson: unknown = Reflect.get(JSON, 'rawJSON')

function exactNumber(this: unknown, _key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source
  const isExact = typeof value !== 'number' || source === undefined || String(value) === source
  return isExact || typeof rawJson !== 'function' ? value : Reflect.apply(rawJson, JSON, [source])
}
