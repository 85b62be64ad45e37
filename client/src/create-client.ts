import createFetchClient, { type Middleware } from 'openapi-fetch'
import type { components, paths } from './schema.d.ts'

/** The named types of the API description. */
export type Schemas = components['schemas']

export interface ClientOptions {
  /** Address of the service, without a trailing slash. Empty for the page's own origin. */
  baseUrl: string
  /** Called for the token of each request. */
  token?: () => string | undefined
  fetch?: (request: Request) => Promise<Response>
}

/** Requests with paths, bodies and answers that the compiler checks. */
export function createClient({ baseUrl, token, fetch }: ClientOptions) {
  const client = createFetchClient<paths>({ baseUrl, ...(fetch && { fetch }) })
  const authorize: Middleware = {
    onRequest({ request }) {
      const current = token?.()
      if (current !== undefined) request.headers.set('authorization', `Bearer ${current}`)
    },
  }
  client.use(authorize)
  return client
}

/** A refusal of the service, with its message. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  /** The members of the request that are wrong, for a 422. */
  readonly fields: { loc: (string | number)[]; msg: string }[]
  readonly retryAfterSeconds: number | undefined

  constructor(status: number, body: unknown, retryAfter: string | null = null) {
    const fields = fieldsOf(body)
    super(messageOf(status, body, fields))
    this.status = status
    this.fields = fields
    const seconds = retryAfter === null ? Number.NaN : Number(retryAfter)
    this.retryAfterSeconds = Number.isFinite(seconds) ? seconds : undefined
  }
}

/** The data of an answer; throws `ApiError` if the request was refused. */
export async function unwrap<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call
  if (!response.ok) throw new ApiError(response.status, error, response.headers.get('retry-after'))
  // Answers match their description, so a successful answer has data.
  return data as T
}

/** The refusal in a response whose body has not been read. */
export async function refusalOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined)
  return new ApiError(response.status, body, response.headers.get('retry-after'))
}

function messageOf(status: number, body: unknown, fields: ApiError['fields']): string {
  const detail = memberOf(body, 'detail')
  if (typeof detail === 'string') return detail
  if (fields.length > 0)
    return fields.map(({ loc, msg }) => [loc.slice(1).join('.'), msg].filter(Boolean).join(': ')).join('; ')
  return `The service answered with status ${status}.`
}

function fieldsOf(body: unknown): ApiError['fields'] {
  const detail = memberOf(body, 'detail')
  if (!Array.isArray(detail)) return []
  return detail.flatMap((entry: unknown) => {
    const loc = memberOf(entry, 'loc')
    const msg = memberOf(entry, 'msg')
    if (!Array.isArray(loc) || typeof msg !== 'string') return []
    return [{ loc: loc.filter((part) => typeof part === 'string' || typeof part === 'number'), msg }]
  })
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
