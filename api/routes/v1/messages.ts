import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AppError } from '../../../domain/errors.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { once } from '../../plugins/idempotency.ts'
import { isDeleted, isShown } from '../public/compat-objects.ts'
import { messageReadRoutes } from '../public/thread-routes.ts'
import { ThreadMessageParams, ThreadParams } from '../public/thread-schemas.ts'
import { messageInputOf } from './message-input.ts'
import { v1ThreadFamily } from './thread-family.ts'
import { V1Message, V1MessageRequest, V1MessageUpdateRequest } from './thread-schemas.ts'
import { type V1Deps, DeletedAnswer, operation, v1Config, v1Refusals } from './v1-route.ts'

/** `threads/{id}/messages` */
export const v1MessageRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, { v1 }) => {
  const { threads } = v1
  const { family } = v1ThreadFamily(v1)

  app.post(
    '/threads/:thread_id/messages',
    {
      config: { ...v1Config, idempotent: true, largeBody: 'messages' },
      schema: {
        ...operation('threads.messages.create', 'Add a message for later runs'),
        params: ThreadParams,
        body: V1MessageRequest,
        response: { 200: V1Message, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { thread_id: threadId } = request.params
      const message = messageInputOf(request.body, ['body'])
      const added = await once(request, {
        create: (id) => threads.addMessage(caller, threadId, message, id),
        find: (id) => threads.addedMessage(caller, threadId, id),
      })
      return (await family.show.messages(request, threadId, [], [added]))[0]
    },
  )

  await app.register(messageReadRoutes, { family })

  app.post(
    '/threads/:thread_id/messages/:message_id',
    {
      config: v1Config,
      schema: {
        ...operation('threads.messages.update', "Replace a message's metadata"),
        params: ThreadMessageParams,
        body: V1MessageUpdateRequest,
        response: { 200: V1Message, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const { thread_id: threadId, message_id: messageId } = request.params
      const { all, found: entry } = await threads.messageOf(callerOf(request), threadId, messageId)
      if (entry === undefined || !isShown(entry)) throw noMessage()
      const { metadata } = request.body
      const message = metadata
        ? await threads.setMessageMetadata(callerOf(request), threadId, entry.message, metadata)
        : entry.message
      return (await family.show.messages(request, threadId, all, [{ ...entry, message }]))[0]
    },
  )

  app.delete(
    '/threads/:thread_id/messages/:message_id',
    {
      config: { ...v1Config, audit: 'successes' },
      schema: {
        ...operation('threads.messages.delete', 'Delete what a message says, wherever it is stored'),
        params: ThreadMessageParams,
        response: {
          200: DeletedAnswer('thread.message.deleted', 'V1MessageDeleted', 'The deletion of a message.'),
          ...v1Refusals(404, 409),
        },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { thread_id: threadId, message_id: messageId } = request.params
      const { found: entry } = await threads.messageOf(caller, threadId, messageId)
      if (entry === undefined || !(isShown(entry) || isDeleted(entry))) throw noMessage()
      // Again if it is deleted already, because the first deletion may have been cut off.
      await threads.eraseMessage(caller, threadId, entry.message)
      if (isDeleted(entry)) throw noMessage()
      return { id: entry.message.data.id, object: 'thread.message.deleted' as const, deleted: true }
    },
  )
}

const noMessage = () => new AppError('not_found', 'There is no such message.')
