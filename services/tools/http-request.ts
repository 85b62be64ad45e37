import { STATUS_CODES } from 'node:http'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { AnyKey } from '../../domain/any-key.ts'
import { AppError } from '../../domain/errors.ts'
import type { Outbound } from '../outbound.ts'
import { limitText, readStart, secretsHider } from '../tool-text.ts'
import type { JsonSchema, Tool } from '../tool.ts'

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
type Method = (typeof methods)[number]

/** A host name or address, optionally with a port; `*.` before a name matches all subdomains. */
const hostPattern = '^(?:\\*\\.)?(?:[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?|\\[[0-9A-Fa-f:.]+\\])(?::[0-9]{1,5})?$'

export const HttpRequestConfig = Type.Object({
  allowed_hosts: Type.Optional(
    Type.Array(Type.String({ pattern: hostPattern, maxLength: 300 }), {
      maxItems: 100,
      title: 'Hosts',
      description:
        'The only hosts that may be reached, such as api.example.com, api.example.com:8080 for one port, or *.example.com for all its subdomains.',
    }),
  ),
  methods: Type.Optional(
    Type.Array(Type.Enum([...methods], { type: 'string' }), {
      minItems: 1,
      maxItems: methods.length,
      title: 'Methods',
      description: 'The only methods that may be used, such as GET. Default: all.',
    }),
  ),
  headers: Type.Optional(
    Type.Record(AnyKey, Type.String(), {
      // Each is looked for in all that the server answers.
      maxProperties: 50,
      title: 'Headers',
      writeOnly: true,
      description:
        'Headers of every request, such as keys. The model does not see them. They are sent only to allowed_hosts, over https to its usual port unless the entry names a port, and not at all without that list.',
    }),
  ),
})
export type HttpRequestConfig = Static<typeof HttpRequestConfig>

const HttpRequestArguments = Type.Object(
  {
    method: Type.Enum([...methods], { type: 'string' }),
    url: Type.String({ description: 'The absolute http or https URL.' }),
    headers: Type.Optional(Type.Record(AnyKey, Type.String())),
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

/** Headers that belong to the connection, or would change the destination. */
const reservedHeaders =
  /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|expect|keep-alive|proxy-.*)$/i

/** A warning for the owner about a usable configuration; undefined if there is none. */
export function httpRequestWarning({ headers, allowed_hosts: hosts }: HttpRequestConfig): string | undefined {
  if (hosts !== undefined || Object.keys(headers ?? {}).length === 0) return undefined
  return 'The configured headers are not sent: allowed_hosts does not list the hosts that may receive them.'
}

export function httpRequestTool(
  name: string,
  config: HttpRequestConfig,
  outbound: Pick<Outbound, 'fetchWith'>,
  /** Those that the operator allows to the user; default: all. */
  allowedToUser?: readonly string[],
): Tool {
  const { allowed_hosts: hosts } = config
  const allowed = hosts && createAllowedHosts(hosts)
  const ofUser = allowedToUser && createAllowedHosts([...allowedToUser])
  const allowedMethods = methods.filter((method) => config.methods?.includes(method) ?? true)
  // Without a list of hosts, the model, or a text that the model reads, could choose who receives these headers.
  const ownHeaders = hosts === undefined ? {} : (config.headers ?? {})
  const hideSecrets = secretsHider(config.headers ?? {})
  const fetch = outbound.fetchWith({
    checkRequest: (url, method) => {
      if (allowed?.mayReach(url) === false)
        throw new AppError('forbidden', `This tool may not reach the host ${url.hostname}.`)
      if (ofUser?.mayReach(url) === false)
        throw new AppError('forbidden', `The operator of this service does not allow you the host ${url.hostname}.`)
      if (!allowedMethods.some((one) => one === method))
        throw new AppError('forbidden', `This tool may not use the method ${method}.`)
    },
  })
  return {
    type: 'http_request',
    name,
    description: hosts
      ? `${httpRequestDescription} Hosts that can be reached: ${hosts.join(', ')}.`
      : httpRequestDescription,
    parameters: parametersFor(allowedMethods),
    safeToRepeat: false,
    timeoutMs: 30_000,
    async execute(args, { signal, exactArgs = args }) {
      const { method, url, headers = {}, body } = Value.Parse(HttpRequestArguments, args)
      if (!URL.canParse(url)) throw new Error('the URL is not valid')
      // After a redirect they are sent to the same origin only.
      const sendsOwn = allowed?.mayReceiveKeys(new URL(url)) ?? false
      const request = {
        method,
        signal,
        headers: headersOf(headers, sendsOwn ? ownHeaders : {}, body),
        ...(body === undefined || method === 'GET' || method === 'HEAD'
          ? {}
          : { body: typeof body === 'string' ? body : JSON.stringify(exactArgs['body']) }),
      }
      const response = await fetch(url, request).catch((error: unknown) => {
        throw new Error(hideSecrets(reasonOf(error)))
      })
      const described = hideSecrets(await describe(response))
      return sendsOwn || Object.keys(ownHeaders).length === 0 ? described : `${described}\n${withheldHeaders}`
    },
  }
}

/** One object for each choice of methods, because checks of arguments are compiled once for each object. */
const parametersByMethods = new Map<string, JsonSchema>()

function parametersFor(allowed: Method[]): JsonSchema {
  if (allowed.length === methods.length) return httpRequestParameters
  const key = allowed.join()
  const known = parametersByMethods.get(key)
  if (known !== undefined) return known
  const method = Type.Enum(allowed, { type: 'string' })
  const made = {
    ...Type.Object({ ...HttpRequestArguments.properties, method }, { additionalProperties: false }),
  }
  parametersByMethods.set(key, made)
  return made
}

function headersOf(fromModel: Record<string, string>, configured: Record<string, string>, body: unknown): Headers {
  const headers = new Headers({ accept: '*/*', 'user-agent': 'assistant-platform' })
  if (typeof body === 'object') headers.set('content-type', 'application/json')
  for (const [name, value] of [...Object.entries(fromModel), ...Object.entries(configured)]) {
    if (reservedHeaders.test(name)) continue
    try {
      headers.set(name, value)
    } catch {
      // The value may be a secret, so only the name is shown.
      throw new Error(`the header ${JSON.stringify(name)} is not valid`)
    }
  }
  return headers
}

const withheldHeaders =
  '[The configured headers were not sent: they go over https to the usual port only, unless allowed_hosts names the port.]'

/** Why no answer came. Only the service's own refusals are quoted, because other errors name addresses. */
function reasonOf(error: unknown): string {
  if (error instanceof AppError) return error.message
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer arrived in time'
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

const entryParts = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/
const usualPorts: Record<string, number> = { 'http:': 80, 'https:': 443 }

/** What a tool with this list may do. Entries are as `hostPattern` says. */
export function createAllowedHosts(list: string[]) {
  const entries = list.map((entry) => {
    const [, name = '', port] = entryParts.exec(entry.toLowerCase()) ?? []
    return { name, port: port === undefined ? undefined : Number(port) }
  })
  const matching = ({ protocol, hostname, port }: URL) =>
    entries.filter(
      (entry) =>
        (entry.name.startsWith('*.') ? hostname.endsWith(entry.name.slice(1)) : hostname === entry.name) &&
        (entry.port === undefined || entry.port === Number(port || usualPorts[protocol])),
    )

  return {
    mayReach: (url: URL): boolean => matching(url).length > 0,
    /**
     * Over https to its usual port, or to a port that the list names. A server on another port may belong to somebody
     * else, and plain http shows keys to the network.
     */
    mayReceiveKeys: (url: URL): boolean =>
      matching(url).some(({ port }) => port !== undefined || (url.protocol === 'https:' && url.port === '')),
  }
}
