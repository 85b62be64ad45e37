import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { methodNotAllowed } from '../../../plugins/route-table.ts'
import type { UnreadAnswers } from '../../../plugins/unread-answers.ts'
import { type V1RunDeps, v1Config } from '../v1-route.ts'
import { createConnection } from './connection.ts'
import { type AnswerTurn, serveSocket } from './serve-socket.ts'

/**
 * Responses over a WebSocket: each `response.create` is answered as the same request by POST would be, with all its
 * checks, limits and lines in the log. The events are those of its stream.
 */
export const v1ResponseSocketRoutes: FastifyPluginAsync<V1RunDeps & { unread: UnreadAnswers }> = async (
  app,
  { v1: { responses }, openStreams, unread },
) => {
  app.route({
    method: 'GET',
    url: '/responses',
    config: { ...v1Config, role: 'member', staysOpen: true },
    schema: { hide: true },
    handler: ({ method }) => Promise.reject(methodNotAllowed(method, ['POST'])),
    wsHandler: (socket: WebSocket, request: FastifyRequest) => {
      const connection = createConnection((run) =>
        responses
          .forget(run, { isOver: true })
          .catch((error: unknown) =>
            request.log.warn({ err: error }, 'a response that is not to be stored stays for now'),
          ),
      )
      const served = serveSocket(socket, {
        connection,
        answer: answerOf(request),
        closing: openStreams.closing,
        unread,
        onError: (error) => request.log.error({ err: error }, 'a response over a WebSocket failed'),
      })
      openStreams.track(served.finished, served.stop)
    },
  })

  function answerOf({ headers, raw }: FastifyRequest): AnswerTurn {
    const { authorization, host, 'x-forwarded-for': forwarded, 'user-agent': agent } = headers
    const sent = { authorization, host, 'x-forwarded-for': forwarded, 'user-agent': agent }
    const known = Object.entries(sent).filter(([, value]) => value !== undefined)
    const remoteAddress = raw.socket.remoteAddress
    return (body) =>
      app.inject({
        method: 'POST',
        url: '/v1/responses',
        headers: { ...Object.fromEntries(known), 'content-type': 'application/json' },
        payload: JSON.stringify(body),
        payloadAsStream: true,
        ...(remoteAddress === undefined ? {} : { remoteAddress }),
      })
  }
}
