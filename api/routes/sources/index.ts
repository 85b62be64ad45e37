import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Services } from '../../../composition/platform.ts'
import type { SourceView } from '../../../services/sources/read-sources.ts'
import { holderOf, ownerOf, sessionOf } from '../../plugins/authentication.ts'
import { once, orNull } from '../../plugins/idempotency.ts'
import { NewestPage, linkNextPart } from '../paging.ts'
import { refusals } from '../schemas.ts'
import {
  Source,
  SourceCreateRequest,
  SourceDeleted,
  SourceList,
  SourcePageList,
  SourcePagesQuery,
  SourceParams,
  SourcesParams,
  makerOf,
  toPage,
  toSource,
} from './schemas.ts'

const config = { auth: 'project' } as const
const tags = ['sources']

type SourceRoutesOptions = Pick<Services, 'assistants' | 'sources' | 'makers'>

/** `/assistants/{aid}/sources`: what an assistant knows of the web. Only for its owner. */
export const sourceRoutes: FastifyPluginAsyncTypebox<SourceRoutesOptions> = async (app, options) => {
  await app.register(changeRoutes, options)
  await app.register(readRoutes, options)
}

const createToSource =
  ({ makers }: Pick<Services, 'makers'>) =>
  async (request: FastifyRequest, view: SourceView) =>
    toSource(view, await makers([makerOf(view)], [sessionOf(request).user]))

const changeRoutes: FastifyPluginAsyncTypebox<SourceRoutesOptions> = async (app, { assistants, sources, makers }) => {
  const toAnswer = createToSource({ makers })

  app.post(
    '/assistants/:aid/sources',
    {
      config: { ...config, idempotent: true, audit: 'successes' },
      schema: {
        operationId: 'sources.create',
        summary: 'Have an assistant know a page, a site, or the pages of a sitemap or feed',
        tags,
        params: SourcesParams,
        body: SourceCreateRequest,
        response: { 200: Source, ...refusals(400, 401, 403, 404, 503) },
      },
    },
    async (request) => {
      const assistant = await assistants.readOwn(ownerOf(request), request.params.aid)
      const view = await once(request, {
        create: (id) => sources.create(assistant, id, request.body, holderOf(request).makerId),
        find: (id) => orNull(sources.get(assistant, id)),
      })
      return toAnswer(request, view)
    },
  )

  app.post(
    '/assistants/:aid/sources/:source_id/refresh',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'sources.refresh',
        summary: 'Crawl a source again now; unchanged pages are not embedded again',
        tags,
        params: SourceParams,
        response: { 200: Source, ...refusals(400, 401, 403, 404, 503) },
      },
    },
    async (request) => {
      const { aid, source_id: id } = request.params
      const assistant = await assistants.readOwn(ownerOf(request), aid)
      return toAnswer(request, await sources.refresh(assistant, id))
    },
  )

  app.delete(
    '/assistants/:aid/sources/:source_id',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'sources.delete',
        summary: 'Remove a source with its pages and everything made from them',
        tags,
        params: SourceParams,
        response: { 200: SourceDeleted, 202: SourceDeleted, ...refusals(401, 403, 404, 500) },
      },
    },
    async (request, reply) => {
      const { aid, source_id: id } = request.params
      const assistant = await assistants.readOwn(ownerOf(request), aid)
      const { status } = await sources.remove(assistant, id)
      const deleted = status === 'complete'
      return reply.code(deleted ? 200 : 202).send({ source_id: id, deleted, receipt_id: id })
    },
  )
}

const readRoutes: FastifyPluginAsyncTypebox<SourceRoutesOptions> = async (app, { assistants, sources, makers }) => {
  const toAnswer = createToSource({ makers })

  app.get(
    '/assistants/:aid/sources',
    {
      config,
      schema: {
        operationId: 'sources.list',
        summary: "The assistant's sources of the web, newest first, with the progress of each",
        tags,
        params: SourcesParams,
        querystring: NewestPage,
        response: { 200: SourceList, ...refusals(401, 403, 404) },
      },
    },
    async (request, reply) => {
      const assistant = await assistants.readOwn(ownerOf(request), request.params.aid)
      const page = await sources.list(assistant, request.query)
      linkNextPart(request, reply, page)
      const known = await makers(page.entries.map(makerOf), [sessionOf(request).user])
      return { sources: page.entries.map((view) => toSource(view, known)), ...request.query }
    },
  )

  app.get(
    '/assistants/:aid/sources/:source_id',
    {
      config,
      schema: {
        operationId: 'sources.read',
        summary: 'Read a source and its progress',
        tags,
        params: SourceParams,
        response: { 200: Source, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const { aid, source_id: id } = request.params
      const assistant = await assistants.readOwn(ownerOf(request), aid)
      return toAnswer(request, await sources.get(assistant, id))
    },
  )

  app.get(
    '/assistants/:aid/sources/:source_id/pages',
    {
      config,
      schema: {
        operationId: 'sources.pages',
        summary: 'The pages of a source in the order of their visits, also those that were left out, and why',
        tags,
        params: SourceParams,
        querystring: SourcePagesQuery,
        response: { 200: SourcePageList, ...refusals(401, 403, 404) },
      },
    },
    async (request, reply) => {
      const { aid, source_id: id } = request.params
      const assistant = await assistants.readOwn(ownerOf(request), aid)
      const page = await sources.pages(assistant, id, request.query)
      linkNextPart(request, reply, page)
      const { limit, offset } = request.query
      return { pages: page.entries.map(toPage), limit, offset }
    },
  )
}
