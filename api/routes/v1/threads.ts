import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { callerOf } from '../../plugins/authentication.ts'
import { once, orNull } from '../../plugins/idempotency.ts'
import { threadReadRoutes } from '../public/thread-routes.ts'
import { ThreadParams } from '../public/thread-schemas.ts'
import { codeFilesOf } from './assistants.ts'
import { messageInputsOf, newResourcesOf, storesOf } from './message-input.ts'
import { toV1Thread } from './message-objects.ts'
import { v1ThreadFamily } from './thread-family.ts'
import { V1Thread, V1ThreadCreateRequest, V1ThreadUpdateRequest } from './thread-schemas.ts'
import { type V1Deps, DeletedAnswer, operation, toDeleted, v1Config, v1Refusals } from './v1-route.ts'

/** `threads`: those of the project. */
export const v1ThreadRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, { v1 }) => {
  const { threads } = v1
  app.post(
    '/threads',
    {
      config: { ...v1Config, idempotent: true, largeBody: 'messages' },
      schema: {
        ...operation('threads.create', 'Begin a conversation'),
        body: V1ThreadCreateRequest,
        response: { 200: V1Thread, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const thread = newV1ThreadOf(request.body, ['body'])
      return toV1Thread(
        await once(request, {
          create: (id) => threads.create(caller, thread, id),
          find: (id) => orNull(threads.finishCreation(caller, thread, id)),
        }),
      )
    },
  )

  await app.register(threadReadRoutes, { family: v1ThreadFamily(v1).family })

  app.post(
    '/threads/:thread_id',
    {
      config: v1Config,
      schema: {
        ...operation('threads.update', "Replace a thread's metadata, its vector stores, or the files for code"),
        params: ThreadParams,
        body: V1ThreadUpdateRequest,
        response: { 200: V1Thread, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const { thread_id: threadId } = request.params
      const caller = callerOf(request)
      const { metadata, tool_resources: resources } = request.body
      const stores = storesOf(resources)
      const { codeFiles } = codeFilesOf(resources)
      if (stores !== undefined) await threads.setStores(caller, threadId, stores)
      if (codeFiles !== undefined) await threads.setCodeFiles(caller, threadId, codeFiles)
      if (metadata) return toV1Thread(await threads.setMetadata(caller, threadId, metadata))
      return toV1Thread(await threads.read(caller, threadId))
    },
  )

  app.delete(
    '/threads/:thread_id',
    {
      config: { ...v1Config, audit: 'successes' },
      schema: {
        ...operation('threads.delete', 'Delete a thread with its messages and runs'),
        params: ThreadParams,
        response: {
          200: DeletedAnswer('thread.deleted', 'V1ThreadDeleted', 'The deletion of a thread.'),
          ...v1Refusals(404),
        },
      },
    },
    async (request) => {
      const { thread_id: id } = request.params
      return toDeleted('thread.deleted', id, await threads.remove(callerOf(request), id))
    },
  )
}

/** The members of a request for a new thread. */
export function newV1ThreadOf(thread: V1ThreadCreateRequest, loc: string[]) {
  return {
    messages: messageInputsOf(thread.messages ?? [], [...loc, 'messages']),
    metadata: thread.metadata ?? undefined,
    resources: newResourcesOf(thread.tool_resources, [...loc, 'tool_resources']),
  }
}
