import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { placeOf } from '../../plugins/authentication.ts'
import { PathId, refusals } from '../schemas.ts'
import { Thread, ThreadListResponse, ThreadPutRequest, showThread } from './schemas.ts'

const params = Type.Object({ tid: PathId })
const config = { auth: 'project' } as const
const tags = ['threads']

const Page = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 20 }),
  offset: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, default: 0 }),
})

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
        querystring: Page,
        response: { 200: ThreadListResponse, ...refusals(401, 403) },
      },
    },
    async (request) => {
      const page = await threads.list(placeOf(request), request.query)
      return { threads: page.threads.map(showThread), total: page.total, ...request.query }
    },
  )

  app.post(
    '/threads/',
    {
      config,
      schema: {
        operationId: 'threads.create',
        summary: 'Create a thread',
        tags,
        body: ThreadPutRequest,
        response: { 200: Thread, ...refusals(401, 403, 404) },
      },
    },
    async (request) => showThread(await threads.create(placeOf(request), request.body)),
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
    async (request) => showThread(await threads.read(placeOf(request).userId, request.params.tid)),
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
    async (request) => showThread(await threads.put(placeOf(request), request.params.tid, request.body)),
  )
}
