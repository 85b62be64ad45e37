import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { requestLimits } from '../../../domain/limits.ts'
import { type MemoryRecord, memoryLimits } from '../../../domain/records/memory.ts'
import { sessionOf } from '../../plugins/authentication.ts'
import { belongsTo, once, orNull } from '../../plugins/idempotency.ts'
import { accountBodyBytes } from '../../plugins/request-bodies.ts'
import { ListPage, linkNextPart } from '../paging.ts'
import { PathId, Timestamp, nullable, refusals } from '../schemas.ts'

const text = Type.String({
  minLength: 1,
  maxLength: memoryLimits.textLength,
  pattern: String.raw`\S`,
  description: 'One fact, as it is given to the model.',
})
const messageId = Type.String({ minLength: 1, maxLength: 200, description: 'The message that the fact is from.' })
const assistantId = 'The only assistant that is given the fact; without it and `project_id`: all of the user.'
const projectId = 'The project whose assistants are given the fact.'

const MemoryCreateRequest = Type.Object(
  {
    text,
    assistant_id: Type.Optional({ ...PathId, description: assistantId }),
    project_id: Type.Optional({ ...PathId, description: `${projectId} Not together with \`assistant_id\`.` }),
    source_message_id: Type.Optional(messageId),
  },
  { title: 'MemoryCreateRequest', about: 'A fact to keep.' },
)

const MemoryUpdateRequest = Type.Object(
  {
    text: Type.Optional(text),
    assistant_id: Type.Optional(nullable({ ...PathId, description: assistantId })),
    project_id: Type.Optional(nullable({ ...PathId, description: projectId })),
    source_message_id: Type.Optional(nullable(messageId)),
  },
  {
    title: 'MemoryUpdateRequest',
    about: 'The members of a fact to change. An owner that is named replaces the other one.',
  },
)

const MemoryQuery = Type.Object({
  ...ListPage.properties,
  assistant_id: Type.Optional({ ...PathId, description: 'Only facts of this assistant.' }),
  project_id: Type.Optional({ ...PathId, description: 'Only facts of this project.' }),
  user: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: requestLimits.nameLength,
      description:
        'Only facts about this caller of the assistant, by the name that the requests gave. Without it, facts about callers are left out.',
    }),
  ),
})

const Memory = Type.Object(
  {
    memory_id: Type.String(),
    text: Type.String(),
    assistant_id: nullable(Type.String()),
    project_id: nullable(Type.String()),
    source_message_id: nullable(Type.String()),
    made_by: Type.Enum(['user', 'assistant'], {
      title: 'MemoryMadeBy',
      about: 'Who saved it: its owner, or an assistant with the tool `memory`.',
    }),
    expires_at: nullable({ ...Timestamp, description: 'When a fact about a caller is deleted.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Memory', about: 'A fact that assistants keep.' },
)

function toMemory(fact: MemoryRecord): Static<typeof Memory> {
  return {
    memory_id: fact._id,
    text: fact.text,
    assistant_id: fact.assistant_id ?? null,
    project_id: fact.project_id ?? null,
    source_message_id: fact.source_message_id ?? null,
    made_by: fact.made_by,
    expires_at: fact.expires_at?.toISOString() ?? null,
    created_at: fact.created_at.toISOString(),
    updated_at: fact.updated_at.toISOString(),
  }
}

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
