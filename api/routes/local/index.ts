import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { AppError } from '../../../domain/errors.ts'

export interface LocalPageDeps {
  settings: { adminToken?: string | undefined }
  /** Whether a connection of this machine belongs to the user who runs the service. */
  isOwnConnection: (connection: { clientPort: number; serverPort: number }) => Promise<boolean>
  mailbox: { codeTo: (address: string) => Promise<string | null> } | undefined
}

const config = { auth: 'none', limits: ['admin_client'] } as const

/**
 * What the console of `npm start` asks for the person at this machine, who could read the same in `.data` and in the local
 * mailbox: the admin token, and the code of a sign-up (docs/decisions/2026-11-28-operator-of-the-local-page.md).
 */
export const localPageRoutes: FastifyPluginAsyncTypebox<LocalPageDeps> = async (app, deps) => {
  const requireLocalPage = async (request: FastifyRequest) => {
    if (isFromLocalPage(request) && (await deps.isOwnConnection(portsOf(request)))) return
    throw new AppError('forbidden', 'Only the console in a browser of the same user on this machine may ask for this.')
  }

  app.post(
    '/local/operator',
    {
      config,
      onRequest: requireLocalPage,
      schema: { hide: true, response: { 200: Type.Object({ admin_token: Type.String() }) } },
    },
    async () => {
      if (deps.settings.adminToken === undefined) throw new AppError('not_found', 'This service has no ADMIN_TOKEN.')
      return { admin_token: deps.settings.adminToken }
    },
  )

  app.post(
    '/local/code',
    {
      config,
      onRequest: requireLocalPage,
      schema: {
        hide: true,
        body: Type.Object({ email: Type.String({ minLength: 3, maxLength: 320 }) }),
        response: { 200: Type.Object({ code: Type.Union([Type.String(), Type.Null()]) }) },
      },
    },
    async ({ body }) => ({ code: (await deps.mailbox?.codeTo(body.email)) ?? null }),
  )
}

function portsOf({ raw: { socket } }: FastifyRequest) {
  return { clientPort: socket.remotePort ?? 0, serverPort: socket.localPort ?? 0 }
}

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
