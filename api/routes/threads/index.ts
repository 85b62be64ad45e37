import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { threadLimits } from '../../../domain/records/thread.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { once, orNull } from '../../plugins/idempotency.ts'
import { NewestPage, linkNextPart } from '../paging.ts'
import { PathId, refusals } from '../schemas.ts'
import { Thread, ThreadCreateRequest, ThreadListResponse, ThreadPutRequest, showThread } from './schemas.ts'

const ThreadsPage = Type.Object({
  ...NewestPage.properties,
  pinned: Type.Optional(Type.Boolean({ description: 'Only pinned ones; false: all.' })),
  tag: Type.Optional(Type.String({ maxLength: threadLimits.tagLength, description: 'Only those with this tag.' })),
})
const params = Type.Object({ tid: PathId })
const config = { auth: 'project' } as const
const tags = ['threads']

/** `/threads`: conversations. */
export const threadRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'threads'>> = async (app, { threads }) => {
  app.get(
    '/threads/',
    {
      config,
      schema: {
        operationId: 'threads.list',
        summary: "The threads of the token's project, most recently updated first",
        tags,
        querystring: ThreadsPage,
        response: { 200: ThreadListResponse, ...refusals(401, 403) },
      },
    },
    async (request, reply) => {
      const { limit, offset } = request.query
      const page = await threads.list(callerOf(request), request.query)
      linkNextPart(request, reply, page)
      return { threads: page.entries.map(showThread), total: page.total, limit, offset }
    },
  )

  app.post(
    '/threads/',
    {
      config: { ...config, idempotent: true },
      schema: {
        operationId: 'threads.create',
        summary: 'Create a thread',
        tags,
        body: ThreadCreateRequest,
        response: { 200: Thread, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      return showThread(
        await once(request, {
          create: (id) => threads.create(caller, id, request.body),
          find: (id) => orNull(threads.read(caller.userId, id)),
        }),
      )
    },
  )

  app.get(
    '/threads/:tid',
    {
      config,
      schema: {
        operationId: 'threads.read',
        summary: 'Read a thread',
        tags,
        params,
        response: { 200: Thread, ...refusals(401, 403, 404) },
      },
    },
    async (request) => showThread(await threads.read(callerOf(request).userId, request.params.tid)),
  )

  app.put(
    '/threads/:tid',
    {
      config,
      schema: {
        operationId: 'threads.put',
        summary: 'Change a thread, or create it under this id',
        tags,
        params,
        body: ThreadPutRequest,
        response: { 200: Thread, ...refusals(401, 403, 404) },
      },
    },
    async (request) => showThread(await threads.put(callerOf(request), request.params.tid, request.body)),
  )
}
