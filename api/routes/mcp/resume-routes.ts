import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { AppError } from '../../../domain/errors.ts'
import type { McpSessions } from '../../../services/mcp/sessions.ts'
import { orNull } from '../../plugins/idempotency.ts'
import { logRun } from '../../plugins/logging.ts'
import { type OpenStreams, openEventStream } from '../../sse/event-stream.ts'
import { refusals } from '../schemas.ts'
import { answerOf } from './ask.ts'
import { positionOf } from './event-id.ts'
import { createMcpEvents } from './events.ts'
import {
  McpHeaders,
  McpParams,
  hostOf,
  mcpConfig,
  mcpEvents,
  requireAccepted,
  requireSession,
  tags,
} from './mcp-route.ts'

/** Goes on with the answer of a call of `ask`, in any process. */
export const mcpResumeRoutes: FastifyPluginAsyncTypebox<{
  openStreams: OpenStreams
  mcpSessions: McpSessions
}> = async (app, { openStreams, mcpSessions }) => {
  app.get(
    '/mcp/:aid',
    {
      config: { ...mcpConfig, limits: ['public_client'] },
      schema: {
        operationId: 'mcp.resume',
        summary: 'Go on with the answer to a call of `ask`, by Last-Event-ID',
        tags,
        params: McpParams,
        headers: Type.Object({
          ...McpHeaders.properties,
          'last-event-id': Type.Optional(
            Type.String({ maxLength: 4096, description: 'The id of the last event that arrived.' }),
          ),
        }),
        response: { 200: mcpEvents, ...refusals(400, 401, 403, 404, 405, 406) },
      },
    },
    async (request, reply) => {
      const host = hostOf(request)
      requireAccepted(request, ['text/event-stream'])
      requireSession(request, mcpSessions)
      const given = request.headers['last-event-id']
      if (given === undefined)
        throw new AppError('method_not_allowed', 'This server sends no events by itself.', {
          headers: { allow: 'POST' },
        })
      const position = positionOf(given)
      const run = position && (await orNull(host.find(position.run)))
      if (!position || !run) throw new AppError('not_found', 'There is no answer with this event id.')
      logRun(reply, run)
      const feed = await host.follow(run)
      const { id, token, progress } = position
      const stream = openEventStream(reply)
      const events = createMcpEvents(stream, { run: run._id, id, token }, progress)
      try {
        const result = await answerOf({ run, feed }, { reply, openStreams, onProgress: events.progress })
        events.send({ jsonrpc: '2.0', id, result })
      } catch (error) {
        request.log.debug({ err: error }, 'an answer was not resumed to its end')
      } finally {
        stream.end()
      }
      return reply
    },
  )
}
