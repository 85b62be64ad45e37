import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { AppError } from '../../../domain/errors.ts'
import { isFromLocalPage } from './local-page.ts'

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
