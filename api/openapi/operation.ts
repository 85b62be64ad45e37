// Before a change: docs/traps.md, Libraries.
import type { FastifySchema, RouteOptions } from 'fastify'
import type { NeededRole } from '../../domain/acting.ts'
import { CompatError, CompatValidationError, V1Error } from '../plugins/compat-errors.ts'
import { ErrorDetail, ValidationError } from '../routes/schemas.ts'
import { linkedEvents } from './events.ts'

type JsonObject = Record<string, unknown>
type Route = Pick<RouteOptions, 'config' | 'method'>

const eventStream = 'text/event-stream'

/**
 * The description of an operation: what its route declares, and what plugins add to every route of its kind
 * (security, refusals).
 */
export function describeOperation(schema: FastifySchema, route: Route): FastifySchema {
  const { querystring, headers } = schema
  return {
    ...schema,
    security: securityOf(route.config?.auth),
    ...roleOf(schema, route.config?.role),
    ...(querystring === undefined ? {} : { querystring: withOptionalDefaults(asObject(querystring)) }),
    ...(headers === undefined ? {} : { headers: withOptionalDefaults(asObject(headers)) }),
    response: withEvents(refusalsOf(schema, route), schema.operationId),
  }
}

/** What a member of a shared project needs, for readers and for programs. */
function roleOf({ description }: FastifySchema, role: NeededRole | undefined): JsonObject {
  if (role === undefined) return {}
  const requirement =
    role === 'holder'
      ? 'In a shared project, only the owner whose account holds it may do this.'
      : `In a shared project, this needs the role \`${role}\`.`
  return { description: description === undefined ? requirement : `${description} ${requirement}`, 'x-role': role }
}

function securityOf(auth: string | undefined): Record<string, string[]>[] {
  switch (auth) {
    case 'user':
    case 'project':
    case 'token':
      return [{ userToken: [] }]
    case 'optional-user':
      return [{}, { userToken: [] }]
    case 'public':
      return [{}, { publicToken: [] }, { publicTokenHeader: [] }]
    case 'codec':
      return [{}, { codecToken: [] }]
    case 'admin':
      return [{ adminToken: [] }, { adminTokenHeader: [] }, { adminTokenQuery: [] }]
    default:
      return []
  }
}

/**
 * The refusals that follow from the kind of a route: a body can be malformed (400), late (408), too large (413) or of
 * another type (415), a token can be missing (401), of an account that is suspended or being deleted, or pinned to a
 * project that is gone (403), another request can have the same key (409), a caller can be too fast (429), a query or
 * header can be too long for the head of a request (431), and every route can fail (500) or need a server that is away
 * (503). Answers that cannot occur are removed: 422 without any input, 431 without query and headers; and if no model is
 * called, a budget that is used up (402) and the failures of a model (499, 502, 504).
 */
function refusalsOf(schema: FastifySchema, route: Route): JsonObject {
  const { auth } = route.config ?? {}
  const isCompat = schema.tags?.includes('compat') ?? false
  const isV1 = schema.tags?.includes('v1') ?? false
  const hasBody = schema.body !== undefined
  const isInHead = hasMembers(schema.querystring) || hasMembers(schema.headers)
  const hasInput = hasBody || isInHead || hasMembers(schema.params)
  const refusal = isV1 ? V1Error : isCompat ? CompatError : ErrorDetail
  if (route.method === 'OPTIONS')
    return { 200: { description: 'The headers that allow the request.', type: 'null' }, 429: refusal }
  const added = schema.tags?.includes('health') ? [429, 500] : [429, 500, 503]
  if (hasBody) added.push(400, 408, 413, 415)
  if (route.config?.idempotent) added.push(409)
  if (auth === 'admin') added.push(401)
  if (securityOf(auth).some((way) => 'userToken' in way)) added.push(401, 403)

  const declared = asObject(schema.response)
  const invalid = isCompat ? CompatValidationError : ValidationError
  const all = {
    422: invalid,
    // Answered before the family of the route is known.
    431: ErrorDetail,
    ...Object.fromEntries(added.map((status) => [String(status), refusal])),
    ...declared,
  }
  const impossible = [
    // On `/v1`, wrong input is 400.
    ...(hasInput && !isV1 ? [] : ['422']),
    ...(isV1 && !hasInput ? ['400'] : []),
    ...(isInHead ? [] : ['431']),
    ...(hasBody || !isCompat ? [] : ['400', '408', '413']),
    ...(!isCompat || isStreaming(declared) ? [] : ['402', '499', '502', '504']),
  ]
  return Object.fromEntries(Object.entries(all).filter(([status]) => !impossible.includes(status)))
}

const hasMembers = (part: unknown) => Object.keys(asObject(asObject(part)['properties'])).length > 0

/** Links the events of an answer that is a stream. */
function withEvents(response: JsonObject, operationId: string | undefined): JsonObject {
  if (!isStreaming(response)) return response
  const success = asObject(response['200'])
  const content = asObject(success['content'])
  const stream = { ...asObject(content[eventStream]), ...linkedEvents(operationId) }
  return { ...response, 200: { ...success, content: { ...content, [eventStream]: stream } } }
}

/** Whether a success can be an event stream: only operations that call a model or wait can stream. */
function isStreaming(response: JsonObject): boolean {
  return eventStream in asObject(asObject(response['200'])['content'])
}

/** The validator fills in defaults of query and header parameters, so they are not required. */
function withOptionalDefaults(schema: JsonObject): JsonObject {
  const all = asObject(schema['properties'])
  // A list may also be sent as `name[]`, as some clients write it.
  const properties = Object.fromEntries(
    Object.entries(all).filter(([name]) => !(name.replace(/\[\]$/, '') in all && name.endsWith('[]'))),
  )
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return {
    ...schema,
    properties,
    required: required.filter((name) => !('default' in asObject(properties[String(name)]))),
  }
}

function asObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
