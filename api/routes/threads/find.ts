import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import type { FoundMessage } from '../../../services/threads/find-messages.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { Timestamp, refusals } from '../schemas.ts'

const tags = ['threads']

const MessageSearch = Type.Object({
  q: Type.String({
    default: '',
    maxLength: 200,
    description:
      'Words that one message has, in any order. The last may be the beginning of a word, from three letters on.',
  }),
  limit: Type.Integer({ minimum: 1, maximum: 50, default: 20 }),
  before: Type.Optional(Type.Number({ minimum: 0, maximum: 1e15, description: '`next` of the page before.' })),
})

const Found = Type.Object(
  {
    thread: Type.Object({
      thread_id: Type.String(),
      name: Type.String(),
      assistant_id: Type.Union([Type.String(), Type.Null()]),
      pinned: Type.Boolean(),
      tags: Type.Array(Type.String()),
      updated_at: Timestamp,
    }),
    message_id: Type.String(),
    message_type: Type.Enum(['HumanMessage', 'AIMessage'], {
      title: 'FoundMessageType',
      about: 'Who wrote the message: a person or the model.',
    }),
    created_at: Timestamp,
    snippet: Type.String(),
    marks: Type.Array(Type.Object({ start: Type.Integer(), end: Type.Integer() }), {
      description: 'Where the words are in the snippet, in UTF-16 units.',
    }),
  },
  { title: 'FoundMessage', about: 'A message that has the words, with the part where they are.' },
)

const FoundMessages = Type.Object(
  {
    found: Type.Array(Found),
    next: Type.Union([Type.Number(), Type.Null()], {
      description: '`before` of the next page, which may be empty and go on; null at the end.',
    }),
  },
  { title: 'FoundMessages', about: 'A page of found messages.' },
)

/** What helps to find a thread again. */
export const findRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'threads'>> = async (app, { threads }) => {
  app.get(
    '/search/messages',
    {
      config: { auth: 'project', limits: ['searches_user'] },
      schema: {
        operationId: 'threads.findMessages',
        summary: "Messages of the project's threads by their words: of each thread the newest, newest first",
        tags,
        querystring: MessageSearch,
        response: { 200: FoundMessages, ...refusals(401, 403) },
      },
    },
    async (request) => {
      const { q, limit, before } = request.query
      const { found, next } = await threads.findMessages(callerOf(request), { query: q, limit, before })
      return { found: found.map(show), next: next ?? null }
    },
  )

  app.get(
    '/tags/',
    {
      config: { auth: 'project' },
      schema: {
        operationId: 'threads.tags',
        summary: "The tags of the project's threads, the first thousand of the alphabet",
        tags,
        response: { 200: Type.Array(Type.String()), ...refusals(401, 403) },
      },
    },
    (request) => threads.tags(callerOf(request)),
  )
}

function show({ thread, message, text, marks, at }: FoundMessage): Static<typeof Found> {
  return {
    thread: {
      thread_id: thread._id,
      name: thread.name,
      assistant_id: thread.assistant_id ?? null,
      pinned: thread.pinned ?? false,
      tags: thread.tags ?? [],
      updated_at: thread.updated_at.toISOString(),
    },
    message_id: message.data.id,
    message_type: message.type === 'HumanMessage' ? 'HumanMessage' : 'AIMessage',
    created_at: at.toISOString(),
    snippet: text,
    marks,
  }
}
