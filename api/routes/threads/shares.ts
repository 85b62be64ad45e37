import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import type { SharedThread } from '../../../services/threads/shares.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { Message } from '../auth/schemas.ts'
import { NewestPage, linkNextPart } from '../paging.ts'
import { BeforeMessage, PathId, Timestamp, refusals } from '../schemas.ts'

const share = {
  thread_id: Type.String(),
  name: Type.String(),
  views: Type.Integer({ description: 'How often it was read, by whomever.' }),
  last_viewed_at: Type.Union([Timestamp, Type.Null()]),
  created_at: Timestamp,
  updated_at: Type.String({ format: 'date-time', description: 'It shows the messages that were there then.' }),
}
const Share = Type.Object(share, { title: 'ThreadShare', about: 'A read-only link to a thread, as its owner sees it.' })
const NewShare = Type.Object(
  {
    ...share,
    token: Type.String({ description: 'Shown only here.' }),
    url: Type.String({ description: 'The page that shows the thread to everybody who has this address.' }),
  },
  { title: 'NewThreadShare', about: 'A link that was just made, with its address.' },
)

const SharedThreadView = Type.Object(
  {
    name: Type.String(),
    shared_at: Timestamp,
    messages: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          role: Type.Enum(['user', 'assistant'], { title: 'SharedRole', about: 'Who wrote the message.' }),
          content: Type.String(),
          files: Type.Array(Type.String(), {
            description: 'What its files are called; empty for a picture or a sound.',
          }),
        },
        { title: 'SharedMessage', about: 'A message as a link shows it.' },
      ),
    ),
    before: Type.Union([Type.String(), Type.Null()], {
      description: 'There are older messages: ask with this `before`. Null: these are all.',
    }),
  },
  { title: 'SharedThread', about: 'What a read-only link shows of a thread.' },
)

const params = Type.Object({ tid: PathId })
const config = { auth: 'project' } as const
const tags = ['threads']

/** Read-only links to threads, which their owner makes and revokes. */
export const shareRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'threads'> & { frontendUrl: string }> = async (
  app,
  deps,
) => {
  await app.register(ownShareRoutes, deps)
  await app.register(sharedRoutes, deps)
}

/** The link to one thread. */
const ownShareRoutes: typeof shareRoutes = async (app, { threads: { shares }, frontendUrl }) => {
  app.post(
    '/threads/:tid/share',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'threads.share.create',
        summary: 'A new read-only link to the thread as it is now, in place of the one before',
        tags,
        params,
        response: { 200: NewShare, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const { share: made, token } = await shares.create(callerOf(request), request.params.tid)
      return { ...show(made), token, url: `${frontendUrl}/s/${token}` }
    },
  )

  app.put(
    '/threads/:tid/share',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'threads.share.update',
        summary: 'Let the link show the messages up to now',
        tags,
        params,
        response: { 200: Share, ...refusals(401, 403, 404) },
      },
    },
    async (request) => show(await shares.update(callerOf(request), request.params.tid)),
  )

  app.get(
    '/threads/:tid/share',
    {
      config,
      schema: {
        operationId: 'threads.share.read',
        summary: 'Whether and since when the thread is shared, and how often it was read',
        tags,
        params,
        response: { 200: Share, ...refusals(401, 403, 404) },
      },
    },
    async (request) => show(await shares.read(callerOf(request), request.params.tid)),
  )

  app.delete(
    '/threads/:tid/share',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'threads.share.delete',
        summary: 'Revoke the link',
        tags,
        params,
        response: { 200: Message, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      await shares.remove(callerOf(request), request.params.tid)
      return { message: 'The link no longer works.' }
    },
  )
}

/** All links of a project, and what a link shows. */
const sharedRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'threads'>> = async (app, { threads: { shares } }) => {
  app.get(
    '/shared/',
    {
      config,
      schema: {
        operationId: 'threads.share.list',
        summary: "The links to threads of the token's project, newest first",
        tags,
        querystring: NewestPage,
        response: { 200: Type.Array(Share), ...refusals(401, 403) },
      },
    },
    async (request, reply) => {
      const page = await shares.list(callerOf(request), request.query)
      linkNextPart(request, reply, page)
      return page.entries.map(show)
    },
  )

  app.get(
    '/shared/:share_token',
    {
      config: { auth: 'none', limits: ['shared_client'] },
      schema: {
        operationId: 'threads.share.open',
        summary: 'What a link shows: texts of messages and names of files, the newest that fit into one answer',
        tags,
        params: Type.Object({ share_token: PathId }),
        querystring: Type.Object({ before: BeforeMessage }),
        response: { 200: SharedThreadView, ...refusals(404) },
      },
    },
    async (request, reply) => {
      reply.header('x-robots-tag', 'noindex, nofollow')
      const { shared_at: time, before, ...rest } = await shares.open(request.params.share_token, request.query.before)
      return { ...rest, shared_at: time.toISOString(), before: before ?? null }
    },
  )
}

function show({ thread_id, name, views, last_viewed_at, created_at, updated_at }: SharedThread): Static<typeof Share> {
  return {
    thread_id,
    name,
    views,
    last_viewed_at: last_viewed_at?.toISOString() ?? null,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}
