import { STATUS_CODES } from 'node:http'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { AppError } from '../../domain/errors.ts'
import type { Outbound } from '../outbound.ts'
import type { JsonSchema, Tool } from './tool.ts'
import { limitText, readStart, secretsHider } from './tool-text.ts'

export const HttpRequestConfig = Type.Object({
  allowed_hosts: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      description: 'The only hosts that may be reached, such as api.example.com, or *.example.com for all below it.',
    }),
  ),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description:
        'Headers of every request, such as keys. The model does not see them. Set allowed_hosts with them: else the model decides who gets them.',
    }),
  ),
})
export type HttpRequestConfig = Static<typeof HttpRequestConfig>

const HttpRequestArguments = Type.Object(
  {
    method: Type.Enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'], { type: 'string' }),
    url: Type.String({ description: 'The absolute http or https URL.' }),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    body: Type.Optional(
      Type.Union([Type.String(), Type.Object({}, { additionalProperties: true })], {
        description: 'The body: text as it is, or an object, which is sent as JSON.',
      }),
    ),
  },
  { additionalProperties: false },
)

export const httpRequestParameters: JsonSchema = { ...HttpRequestArguments }

export const httpRequestDescription =
  'Sends an HTTP request to a public address and returns the status, the content type and the beginning of the body.'

/** These belong to the connection, or would say that the request goes elsewhere. */
const reservedHeaders =
  /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|expect|keep-alive|proxy-.*)$/i

export function httpRequestTool(name: string, config: HttpRequestConfig, outbound: Pick<Outbound, 'fetchWith'>): Tool {
  const hosts = config.allowed_hosts
  const hideSecrets = secretsHider(config.headers ?? {})
  const fetch = outbound.fetchWith({
    checkUrl: (url) => {
      if (hosts && !hosts.some((host) => matches(url, host)))
        throw new AppError('forbidden', `The host ${url.hostname} is not one that this tool may reach.`)
    },
  })
  return {
    type: 'http_request',
    name,
    description: hosts
      ? `${httpRequestDescription} Hosts that can be reached: ${hosts.join(', ')}.`
      : httpRequestDescription,
    parameters: httpRequestParameters,
    safeToRepeat: false,
    timeoutMs: 30_000,
    async execute(args, { signal }) {
      const { method, url, headers = {}, body } = Value.Parse(HttpRequestArguments, args)
      if (!URL.canParse(url)) throw new Error('the URL is not valid')
      const request = {
        method,
        signal,
        headers: headersOf(headers, config.headers ?? {}, body),
        ...(body === undefined || method === 'GET' || method === 'HEAD'
          ? {}
          : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }
      const response = await fetch(url, request).catch((error: unknown) => {
        throw new Error(hideSecrets(reasonOf(error)))
      })
      return hideSecrets(await describe(response))
    },
  }
}

function headersOf(fromModel: Record<string, string>, configured: Record<string, string>, body: unknown): Headers {
  const headers = new Headers({ accept: '*/*', 'user-agent': 'assistant-platform' })
  if (typeof body === 'object') headers.set('content-type', 'application/json')
  for (const [name, value] of [...Object.entries(fromModel), ...Object.entries(configured)]) {
    if (reservedHeaders.test(name)) continue
    try {
      headers.set(name, value)
    } catch {
      // The value may be a secret: only the name is told.
      throw new Error(`the header ${JSON.stringify(name)} is not valid`)
    }
  }
  return headers
}

function matches(url: URL, allowed: string): boolean {
  const host = allowed.toLowerCase()
  if (host.startsWith('*.')) return url.hostname.endsWith(host.slice(1))
  return url.hostname === host || url.host === host
}

/** Why no answer came. Only our own refusals are quoted: other errors name addresses. */
function reasonOf(error: unknown): string {
  if (error instanceof AppError) return error.message
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer came in time'
  const cause = error instanceof Error ? error.cause : undefined
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? `the server could not be reached (${code})` : 'the server could not be reached'
}

async function describe(response: Response): Promise<string> {
  const type = response.headers.get('content-type') ?? 'unknown content type'
  const head = `HTTP ${response.status} ${response.statusText || (STATUS_CODES[response.status] ?? '')}`.trim()
  const { bytes, whole } = await readStart(response)
  const more = whole ? '' : '\n[Cut here: the answer is longer than 1 MiB.]'
  if (bytes.length === 0) return `${head}\nThe body is empty.`
  if (!isText(type, bytes))
    return `${head}\n${type}, ${bytes.length} bytes${whole ? '' : ' and more'}: not text, not shown.`
  return `${head}\n${type}\n\n${limitText(decode(type, bytes))}${more}`
}

function isText(type: string, bytes: Buffer): boolean {
  if (/^text\/|json|xml|javascript|x-www-form-urlencoded|yaml|csv/i.test(type)) return true
  return !/^(image|audio|video|font)\//i.test(type) && !bytes.subarray(0, 1000).includes(0)
}

function decode(type: string, bytes: Buffer): string {
  const charset = /charset="?([\w-]+)/i.exec(type)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return bytes.toString('utf8')
  }
}
