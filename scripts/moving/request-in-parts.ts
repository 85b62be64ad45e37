import { APIError } from 'openai'
import { isJsonObject } from '../../domain/json.ts'

type Body = Record<string, unknown>

/** An object does not make sense without them. */
const needed = new Set(['model', 'content', 'role', 'file_id'])
const mostParts = 50

/**
 * Sends a body. A part that the server names as one that it does not have, and an image that it cannot read, is removed
 * and told to `leftOut`, and the rest is sent again; a part without which the object would be another one is not removed.
 */
export async function sendInParts<T>(
  body: Body,
  send: (body: Body, attempt: number) => Promise<T>,
  leftOut: (part: string, reason: string) => void,
): Promise<T> {
  let current = body
  for (let attempt = 0; ; attempt++) {
    try {
      return await send(current, attempt)
    } catch (error) {
      const part = attempt < mostParts ? refusedPart(error) : undefined
      const rest = part === undefined ? undefined : without(current, part)
      if (part === undefined || rest === undefined || !(error instanceof APIError)) throw error
      leftOut(nameOf(part), messageOf(error))
      current = rest
    }
  }
}

/** The words of the server, without the number before them. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const text = error instanceof APIError ? error.message.replace(/^\d+ /, '') : error.message
  return text.slice(0, 500)
}

type Part = (string | number)[]

/** An image whose bytes the server cannot read, or does not take. */
const unreadImage = /^content\[\d+\](?=\.image_(?:url\.url|file\.file_id)$)/

function refusedPart(error: unknown): Part | undefined {
  if (!(error instanceof APIError) || error.status !== 400 || !error.param) return undefined
  const image = unreadImage.exec(error.param)?.[0]
  if (image !== undefined) return partNamed(image)
  if (error.code !== 'unsupported_parameter' && error.code !== 'unknown_parameter') return undefined
  const part = partNamed(error.param)
  // An entry of a type that the server does not have goes as a whole.
  return part.at(-1) === 'type' ? part.slice(0, -1) : part
}

function partNamed(name: string): Part {
  return Array.from(name.matchAll(/\[(\d+)\]|[^.[\]]+/g), ([step, index]) =>
    index === undefined ? step : Number(index),
  )
}

function nameOf(part: Part): string {
  return part.reduce<string>(
    (name, step) => (typeof step === 'number' ? `${name}[${step}]` : name === '' ? step : `${name}.${step}`),
    '',
  )
}

/** A copy without the part; undefined if there is no such part, or the object needs it. */
function without(body: Body, part: Part): Body | undefined {
  const copy = structuredClone(body)
  const last = part.at(-1)
  let holder: unknown = copy
  for (const step of part.slice(0, -1))
    holder = Array.isArray(holder) ? holder[Number(step)] : isJsonObject(holder) ? holder[step] : undefined
  if (Array.isArray(holder) && typeof last === 'number' && last < holder.length) {
    holder.splice(last, 1)
    const isEmptied = holder.length === 0 && needed.has(String(part[0]))
    return isEmptied ? undefined : copy
  }
  if (!isJsonObject(holder) || typeof last !== 'string' || !(last in holder)) return undefined
  if (part.length === 1 && needed.has(last)) return undefined
  delete holder[last]
  return copy
}
