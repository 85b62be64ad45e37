import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { memoryLimits } from '../../../domain/records/memory.ts'
import { sessionOf } from '../../plugins/authentication.ts'
import { belongsTo, once, orNull } from '../../plugins/idempotency.ts'
import { accountBodyBytes } from '../../plugins/request-bodies.ts'
import { linkNextPart } from '../paging.ts'
import { PathId, refusals } from '../schemas.ts'
import { Memory, MemoryCreateRequest, MemoryQuery, MemoryUpdateRequest, toMemory } from './schemas.ts'

const params = Type.Object({ memory_id: PathId })
const config = { auth: 'user' } as const
const written = { ...config, audit: 'successes', limits: ['runs_user'] } as const
const tags = ['memory']

/** `/memory`: the facts that assistants keep across threads. */
export const memoryRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'memories'>> = async (app, { memories }) => {
  app.get(
    '/memory/',
    {
      config,
      schema: {
        operationId: 'memory.list',
        summary: 'Facts that your assistants keep, newest first',
        tags,
        querystring: MemoryQuery,
        response: { 200: Type.Array(Memory), ...refusals(401) },
      },
    },
    async (request, reply) => {
      const { limit, offset, ...filter } = request.query
      const page = await memories.list(sessionOf(request).user._id, filter, { limit, offset })
      linkNextPart(request, reply, page)
      return page.entries.map(toMemory)
    },
  )

  app.post(
    '/memory/',
    {
      config: { ...written, idempotent: true },
      bodyLimit: accountBodyBytes,
      schema: {
        operationId: 'memory.create',
        summary: `Keep a fact; an account has at most ${memoryLimits.ofUser}`,
        description: 'A text that is kept there already is not stored twice: the answer is the known fact.',
        tags,
        body: MemoryCreateRequest,
        response: { 200: Memory, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const userId = sessionOf(request).user._id
      const fact = await once(request, {
        create: (id) => memories.create(userId, request.body, id),
        find: (id) => orNull(memories.read(userId, id)),
      })
      belongsTo(request, fact._id, ...[fact.assistant_id, fact.project_id].flatMap((id) => id ?? []))
      return toMemory(fact)
    },
  )

  app.patch(
    '/memory/:memory_id',
    {
      config: written,
      bodyLimit: accountBodyBytes,
      schema: {
        operationId: 'memory.update',
        summary: 'Change a fact, or whom it is for; null removes a member',
        tags,
        params,
        body: MemoryUpdateRequest,
        response: { 200: Memory, ...refusals(401, 403, 404, 409) },
      },
    },
    async (request) =>
      toMemory(await memories.update(sessionOf(request).user._id, request.params.memory_id, request.body)),
  )

  app.delete(
    '/memory/:memory_id',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'memory.delete',
        summary: 'Delete a fact',
        tags,
        params,
        response: { 200: Type.Object({ deleted: Type.Boolean() }), ...refusals(401, 404) },
      },
    },
    async (request) => {
      await memories.remove(sessionOf(request).user._id, request.params.memory_id)
      return { deleted: true }
    },
  )
}
