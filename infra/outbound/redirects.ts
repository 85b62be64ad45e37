import { AddressRefusedError } from '../../domain/address-refused-error.ts'
import { AppError } from '../../domain/errors.ts'
import { limitBody } from './limit-body.ts'
import { scanAnswer } from './scan-answer.ts'
import type { Fetch, OutboundOptions } from '../../services/outbound.ts'

type FetchOnce = (url: URL, init: RequestInit) => Promise<Response>

/** Headers without information about the caller: only these are sent to another origin. */
const harmlessHeaders = ['accept', 'accept-language', 'content-type', 'content-language', 'user-agent']

/**
 * `fetch` that follows redirects itself, so that each address is checked and a redirect to another origin never
 * receives the caller's keys: the fetch standard drops only `Authorization`.
 */
export function followRedirects(
  fetchOnce: FetchOnce,
  { maxRedirects, checkRequest, maxBytes, json }: OutboundOptions & { maxRedirects: number },
): Fetch {
  return async (input, init) => {
    const request = input instanceof Request ? input : undefined
    let url = input instanceof Request ? new URL(input.url) : new URL(input)
    let options = { ...(request ? await initOf(request) : {}), ...init }
    for (let redirects = 0; ; redirects++) {
      if (!/^https?:$/.test(url.protocol))
        throw new AddressRefusedError('Only http and https addresses can be reached.')
      checkRequest?.(url, (options.method ?? 'GET').toUpperCase())
      const response = await fetchOnce(url, options)
      const location = isRedirect(response.status) ? response.headers.get('location') : null
      if (location === null || options.redirect === 'manual') {
        const limited = maxBytes === undefined ? response : limitBody(response, maxBytes)
        return json === undefined ? limited : scanAnswer(limited, json)
      }
      await response.body?.cancel()
      if (redirects >= maxRedirects || options.redirect === 'error')
        throw new AppError('upstream_failed', 'The server redirects too often.')
      const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined
      if (next === undefined)
        throw new AppError('upstream_failed', 'The server redirects to something that is not a valid URL.')
      options = afterRedirect(options, response.status, next.origin === url.origin)
      url = next
    }
  }
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status)
}

/** Changes method and body as in the fetch standard (4.4, HTTP-redirect fetch), and headers by our rule. */
function afterRedirect(options: RequestInit, status: number, sameOrigin: boolean): RequestInit {
  const method = (options.method ?? 'GET').toUpperCase()
  const becomesGet =
    (status === 303 && method !== 'GET' && method !== 'HEAD') ||
    ((status === 301 || status === 302) && method === 'POST')
  const given = [...new Headers(options.headers)]
  const headers = given
    .filter(([name]) => sameOrigin || harmlessHeaders.includes(name))
    .filter(([name]) => !becomesGet || !name.startsWith('content-'))
  const { body, ...rest } = options
  if (becomesGet) return { ...rest, headers, method: 'GET' }
  if (body instanceof ReadableStream)
    throw new AppError('upstream_failed', 'The server redirects a request that cannot be sent again.')
  return { ...rest, headers, ...(body === undefined ? {} : { body }) }
}

async function initOf(request: Request): Promise<RequestInit> {
  const body = request.body === null ? {} : { body: await request.arrayBuffer() }
  return {
    method: request.method,
    headers: request.headers,
    signal: request.signal,
    redirect: request.redirect,
    ...body,
  }
}
