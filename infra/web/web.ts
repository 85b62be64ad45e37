import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { AddressRefusedError } from '../../domain/address-refused-error.ts'
import { bytesWithin } from '../../domain/bytes-within.ts'
import { cutText } from '../../domain/cut-text.ts'
import { crawlLimits } from '../../domain/sources/limits.ts'
import type { Outbound } from '../../services/outbound.ts'
import type { SiteRules, Web, WebAnswer } from '../../services/sources/web.ts'
import { fixedRules, rulesIn } from './robots.ts'

interface WebOptions {
  outbound: Pick<Outbound, 'fetch'>
  /** Where the owner of a site finds out who reads it. */
  contactUrl: string
  /** Pause between two requests to a host that asks for none. */
  pauseMs: number
  /** For one request, from the first byte sent to the last one received. */
  requestMs?: number
}

/** The name by which `robots.txt` speaks of us. */
const agent = 'AssistantPlatformBot'
const rulesMs = 600_000

/** Reads pages over the guarded way out. What is known of sites is kept for ten minutes. */
export function createWeb({ outbound, contactUrl, pauseMs, requestMs = crawlLimits.requestMs }: WebOptions): Web {
  const inTurn = createHostTurns()
  const known = new LRUCache<string, SiteRules>({ max: 1000, ttl: rulesMs })
  const userAgent = `${agent}/1.0 (+${contactUrl})`

  async function request(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<WebAnswer> {
    const limit = AbortSignal.timeout(requestMs)
    try {
      const response = await outbound.fetch(url, {
        headers: { 'user-agent': userAgent, accept: accepted, 'accept-language': '*', ...headers },
        redirect: 'manual',
        signal: AbortSignal.any([signal, limit]),
      })
      return await answerOf(url, response)
    } catch (error) {
      signal.throwIfAborted()
      if (limit.aborted)
        return { kind: 'failed', reason: `The site did not answer completely within ${requestMs / 1000} seconds.` }
      if (error instanceof AddressRefusedError)
        return { kind: error.isOfName ? 'failed' : 'refused', reason: error.message }
      return { kind: 'failed', reason: whyFailed(error) }
    }
  }

  async function readRules(url: URL, signal: AbortSignal): Promise<SiteRules> {
    let at = new URL('/robots.txt', url)
    for (let hops = 0; hops <= crawlLimits.redirects; hops++) {
      const answer = await inTurn(at.host, 0, signal, () => request(at.href, {}, signal))
      if (answer.kind === 'redirect' && URL.canParse(answer.to, at.href)) {
        at = new URL(answer.to, at)
        continue
      }
      if (answer.kind === 'content') {
        const text = answer.body.subarray(0, crawlLimits.robotsBytes).toString('utf8')
        return rulesIn(text, new URL('/robots.txt', url).href, { agent, pauseMs })
      }
      if (answer.kind !== 'failed') break
      return fixedRules(pauseMs, `robots.txt of the site cannot be read: ${answer.reason}`)
    }
    return fixedRules(pauseMs)
  }

  return {
    async rulesOf(address, signal) {
      const url = new URL(address)
      const found = known.get(url.origin)
      if (found !== undefined) return found
      const rules = await readRules(url, signal)
      if (!rules.isTemporary) known.set(url.origin, rules)
      return rules
    },

    ask: (url, { pauseMs: wanted, etag, lastModified, signal }) =>
      inTurn(new URL(url).host, wanted, signal, () =>
        request(
          url,
          {
            ...(etag === undefined ? {} : { 'if-none-match': etag }),
            ...(lastModified === undefined ? {} : { 'if-modified-since': lastModified }),
          },
          signal,
        ),
      ),
  }
}

const accepted = 'text/html,application/xhtml+xml,application/xml;q=0.9,application/pdf;q=0.8,*/*;q=0.5'

async function answerOf(url: string, response: Response): Promise<WebAnswer> {
  const { status, headers } = response
  if (status === 200) return contentOf(url, response)
  await response.body?.cancel()
  if (status === 304) return { kind: 'unchanged' }
  const location = headers.get('location')
  if (status >= 300 && status < 400 && location !== null) return { kind: 'redirect', to: location }
  if (status === 404 || status === 410) return { kind: 'gone', reason: `There is no such page (${status}).` }
  if (status === 401 || status === 403)
    return { kind: 'refused', reason: `The site does not let us read it (${status}).` }
  const kind = status === 429 || status === 408 || status >= 500 ? 'failed' : 'refused'
  return { kind, reason: `The site answered with status ${status}.` }
}

async function contentOf(url: string, response: Response): Promise<WebAnswer> {
  const [kind = '', ...parameters] = (response.headers.get('content-type') ?? '').split(';')
  const contentType = kind.trim().toLowerCase()
  const charset = /^\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(parameters.join(';'))?.[1]
  if (unreadable.test(contentType)) {
    await response.body?.cancel()
    return { kind: 'refused', reason: `It is ${cutText(contentType, 100)}, which holds no text.` }
  }
  const isPacked = gzips.includes(contentType) || /\.gz$/i.test(new URL(url).pathname)
  const isPage = /^text\/html|\+xml$|\/xml$/.test(contentType)
  const most = isPage ? crawlLimits.pageBytes : crawlLimits.documentBytes
  const read = await bytesWithin(response.body ?? [], most)
  const body = read && isPacked ? await unpacked(read) : read
  if (body === undefined) return { kind: 'refused', reason: `It is larger than ${Math.round(most / 1024 / 1024)} MB.` }
  return {
    kind: 'content',
    body,
    contentType,
    charset,
    etag: headerOf(response, 'etag'),
    lastModified: headerOf(response, 'last-modified'),
  }
}

const unreadable =
  /^(image|audio|video|font|model)\/|^text\/(css|javascript)|javascript$|[/-]zip$|^application\/(wasm|x-tar)/
const gzips = ['application/gzip', 'application/x-gzip']

function headerOf({ headers }: Response, name: string): string | undefined {
  const value = headers.get(name) ?? undefined
  return value === undefined || value.length > 500 ? undefined : value
}

const unzip = promisify(gunzip)

async function unpacked(body: Buffer): Promise<Buffer | undefined> {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return body
  return unzip(body, { maxOutputLength: crawlLimits.documentBytes }).catch(() => undefined)
}

function whyFailed(error: unknown): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const code: unknown = Reflect.get(at, 'code')
    if (code === 'EAI_AGAIN') return 'The name of the site cannot be looked up at the moment.'
    if (code === 'ECONNREFUSED') return 'The site refuses connections.'
    if (typeof code === 'string' && /CERT|TLS|SSL/.test(code)) return 'The certificate of the site is not valid.'
  }
  return 'The connection to the site failed.'
}

interface Host {
  /** The end of the last request that was let in. */
  last: Promise<number>
  waiting: number
}

/** One request at a time to each host, with a pause after each, whoever asks. */
function createHostTurns() {
  const hosts = new Map<string, Host>()

  return async function inTurn<T>(
    name: string,
    pauseMs: number,
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    const host = hosts.get(name) ?? { last: Promise.resolve(0), waiting: 0 }
    hosts.set(name, host)
    const before = host.last
    const end = Promise.withResolvers<number>()
    host.last = end.promise
    host.waiting += 1
    try {
      const readyAt = (await before) + pauseMs
      const left = readyAt - Date.now()
      if (left > 0) await sleep(left, undefined, { signal })
      signal.throwIfAborted()
      return await work()
    } finally {
      host.waiting -= 1
      end.resolve(Date.now())
      if (host.waiting === 0) setTimeout(() => host.waiting === 0 && hosts.delete(name), forgetMs).unref()
    }
  }
}

/** Longer than any pause. */
const forgetMs = 120_000
