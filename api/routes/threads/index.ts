import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { type ThreadRecord, threadLimits } from '../../../domain/records/thread.ts'
import type { ThreadWithStatus } from '../../../services/threads/read-threads.ts'
import { callerOf, sessionOf } from '../../plugins/authentication.ts'
import { once, orNull } from '../../plugins/idempotency.ts'
import { NewestPage, linkNextPart } from '../paging.ts'
import { PathId, refusals } from '../schemas.ts'
import {
  Thread,
  ThreadCreateRequest,
  ThreadListResponse,
  ThreadPutRequest,
  Visibility,
  makerOf,
  toThread,
} from './schemas.ts'

const ThreadsPage = Type.Object({
  ...NewestPage.properties,
  visibility: Type.Optional(Visibility),
  pinned: Type.Optional(Type.Boolean({ description: 'Only pinned ones; false: all.' })),
  archived: Type.Optional(
    Type.Boolean({ description: 'Only those that were put aside; false, or absent: only the others.' }),
  ),
  tag: Type.Optional(Type.String({ maxLength: threadLimits.tagLength, description: 'Only those with this tag.' })),
  folder_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Only those in this folder of yours; `none`: only those in none of your folders.',
    }),
  ),
})
const params = Type.Object({ tid: PathId })
const config = { auth: 'project' } as const
const tags = ['threads']

/** `/threads`: conversations. */
export const threadRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'threads' | 'makers'>> = async (
  app,
  { threads, makers },
) => {
  const makersOf = (request: FastifyRequest, found: ThreadRecord[]) =>
    makers(found.map(makerOf), [sessionOf(request).user])
  const toAnswer = async (request: FastifyRequest, thread: ThreadWithStatus) =>
    toThread(thread, await makersOf(request, [thread]))

  app.get(
    '/threads/',
    {
      config,
      schema: {
        operationId: 'threads.list',
        summary: "Your threads in the token's project and those that it sees, most recently updated first",
        tags,
        querystring: ThreadsPage,
        response: { 200: ThreadListResponse, ...refusals(401, 403) },
      },
    },
    async (request, reply) => {
      const { limit, offset } = request.query
      const page = await threads.list(callerOf(request), request.query)
      linkNextPart(request, reply, page)
      const known = await makersOf(request, page.entries)
      return { threads: page.entries.map((thread) => toThread(thread, known)), total: page.total, limit, offset }
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
      return toAnswer(
        request,
        await once(request, {
          create: (id) => threads.create(caller, id, request.body),
          find: (id) => orNull(threads.read(caller, id)),
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
    async (request) => toAnswer(request, await threads.read(callerOf(request), request.params.tid)),
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
    async (request) => toAnswer(request, await threads.put(callerOf(request), request.params.tid, request.body)),
  )
}
