import { parseForeignJson } from '../../domain/foreign-json.ts'
import { isJsonObject } from '../../domain/json.ts'
import { type JsonObject, isArray } from './foreign-values.ts'

const maxMessageLength = 4000

interface ServerError {
  message: string
  param?: string
  code?: string
  type?: string
}

/**
 * The body of an error answer in the form that the client library reads. Servers write it in many ways: in a list, as
 * a text, as the `detail` of a web framework, around the answer of the server behind them, as a page of HTML.
 */
export function readErrorBody(text: string): string {
  const error = errorIn(parsed(text)) ?? { message: plainText(text) }
  return error.message === '' ? '' : JSON.stringify({ error })
}

function parsed(text: string): unknown {
  try {
    return parseForeignJson(text, { bytes: Infinity })
  } catch {
    return undefined
  }
}

/** The error in a value that is one of these forms. */
export function errorIn(value: unknown, depth = 0): ServerError | undefined {
  if (depth > 4) return undefined
  if (typeof value === 'string') return value.trim() === '' ? undefined : { message: value.slice(0, maxMessageLength) }
  if (isArray(value)) return errorIn(value[0], depth + 1)
  if (!isJsonObject(value)) return undefined
  const { error, detail, message, errors } = value
  if (error !== undefined && error !== null && error !== false && error !== true) return errorIn(error, depth + 1)
  if (isArray(detail)) return detailsError(detail)
  const inner = errorIn(message, depth + 1) ?? errorIn(detail, depth + 1) ?? errorIn(errors, depth + 1)
  if (inner === undefined) return undefined
  const code = value['code'] ?? value['status']
  return {
    ...inner,
    message: `${inner.message}${causeOf(value['metadata'])}`.slice(0, maxMessageLength),
    ...textMember('param', value['param']),
    ...textMember('type', value['type']),
    ...textMember('code', typeof code === 'number' ? String(code) : code),
  }
}

/** `[{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "type": "extra_forbidden"}]` */
function detailsError(details: unknown[]): ServerError | undefined {
  const [first] = details
  if (!isJsonObject(first)) return errorIn(first)
  const path = isArray(first['loc']) ? first['loc'].filter((part) => part !== 'body').join('.') : ''
  const message = typeof first['msg'] === 'string' ? first['msg'] : 'The request is not valid.'
  return { message: `${path}: ${message}`.slice(0, maxMessageLength), ...textMember('param', path) }
}

/** What a gateway says of the server behind it. */
function causeOf(metadata: unknown): string {
  const raw = isJsonObject(metadata) ? metadata['raw'] : undefined
  return typeof raw === 'string' ? `: ${raw}` : ''
}

function textMember<const N extends string>(name: N, value: unknown): JsonObject {
  return typeof value === 'string' && value !== '' ? { [name]: value.slice(0, 200) } : {}
}

function plainText(text: string): string {
  const message = text.replaceAll(/<(script|style)\b[\s\S]*?<\/\1>/gi, ' ').replaceAll(/<[^>]*>/g, ' ')
  return message.replaceAll(/\s+/g, ' ').trim().slice(0, maxMessageLength)
}
