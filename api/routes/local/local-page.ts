import type { IncomingHttpHeaders } from 'node:http'

interface LocalRequest {
  headers: IncomingHttpHeaders
  raw: { socket: { remoteAddress?: string | undefined } }
}

/** Whoever forwards requests of others from this machine says so in one of these. */
const forwarding = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'cf-connecting-ip']

/**
 * Whether a request was sent by a page of this service, in a browser on this machine that reached it by a loopback address:
 * - the connection itself comes from this machine, whatever headers say, and nothing has forwarded the request;
 * - `Host` is a loopback name, so that no other name leads here (DNS rebinding);
 * - `Origin`, which browsers send with every POST, is the same address, so that no other page and no public address of a
 *   tunnel is behind it; `Sec-Fetch-Site` says the same where it is sent.
 */
export function isFromLocalPage({ headers, raw }: LocalRequest): boolean {
  if (!isLoopback(raw.socket.remoteAddress)) return false
  if (forwarding.some((name) => headers[name] !== undefined)) return false
  const { host, origin } = headers
  if (host === undefined || !/^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i.test(host)) return false
  if (origin?.toLowerCase() !== `http://${host.toLowerCase()}`) return false
  const site = headers['sec-fetch-site']
  return site === undefined || site === 'same-origin'
}

function isLoopback(address = ''): boolean {
  return /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/.test(address) || address === '::1'
}
