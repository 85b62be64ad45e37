import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import type { Caller } from '../../../services/owner.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { once } from '../../plugins/idempotency.ts'
import { linkNextPage } from '../paging.ts'
import { BeforeMessage, PathId, refusals } from '../schemas.ts'
import { ThreadPostRequest, ThreadStateView, followOf, nextOf, toState } from './schemas.ts'

const params = Type.Object({ tid: PathId })
const config = { auth: 'project' } as const
const tags = ['threads']

const HistoryPage = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 1000 }),
  before: Type.Optional(Type.String({ maxLength: 200, description: 'A checkpoint_id: only states before it.' })),
})

const StatePart = Type.Object({
  before: BeforeMessage,
  versions: Type.Optional(
    Type.Enum(['newest', 'all'], {
      title: 'StateVersions',
      about: 'The newest version of a conversation, or all.',
      description:
        'Which versions of the conversation: the newest (the default), or all, in the order in which their messages came. A message follows the one before it, unless it names another as `after`.',
    }),
  ),
})

/** The current and past states of a thread. */
export const threadStateRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'threads'>> = async (app, { threads }) => {
  const currentState = async (caller: Caller, threadId: string, part?: { before?: string; allVersions: boolean }) => {
    const { thread, status, state } = await threads.state(caller, threadId, part)
    const authors = thread.visibility && (await threads.authors(thread, state?.messages ?? []))
    return toState(threadId, state, nextOf(status, state), authors)
  }

  app.get(
    '/threads/:tid/state',
    {
      config,
      schema: {
        operationId: 'threads.state',
        summary: 'The current state; of a large one the newest messages',
        tags,
        params,
        querystring: StatePart,
        response: { 200: ThreadStateView, ...refusals(401, 403, 404) },
      },
    },
    (request) => {
      const { versions, ...part } = request.query
      return currentState(callerOf(request), request.params.tid, { ...part, allVersions: versions === 'all' })
    },
  )

  app.post(
    '/threads/:tid/state',
    {
      config: { ...config, idempotent: true, largeBody: 'messages' },
      schema: {
        operationId: 'threads.addState',
        summary: 'Add or replace messages',
        tags,
        params,
        body: ThreadPostRequest,
        response: { 200: ThreadStateView, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { values } = request.body
      const { tid } = request.params
      const messages = Array.isArray(values) ? values : values.messages
      await once<unknown>(request, {
        create: (id) => threads.addState(caller, tid, messages, id),
        find: async (id) => (await threads.hasEntry(tid, id)) || null,
      })
      return currentState(caller, request.params.tid)
    },
  )

  app.get(
    '/threads/:tid/history',
    {
      config,
      schema: {
        operationId: 'threads.history',
        summary: 'Past states, newest first, as many as fit into one answer; the header Link names the next page',
        tags,
        params,
        querystring: HistoryPage,
        response: { 200: Type.Array(ThreadStateView), ...refusals(401, 403, 404) },
      },
    },
    async (request, reply) => {
      const { tid } = request.params
      const page = await threads.history(callerOf(request), tid, request.query)
      const { thread, states, hasMore, status, newest } = page
      const messages = states.flatMap((state) => state.messages)
      const authors = thread.visibility && (await threads.authors(thread, messages))
      const oldest = states.at(-1)
      if (hasMore && oldest) linkNextPage(request, reply, { before: oldest.checkpoint._id })
      return states.map((state) =>
        toState(tid, state, state.checkpoint.seq === newest ? nextOf(status, state) : followOf(state), authors),
      )
    },
  )
}
