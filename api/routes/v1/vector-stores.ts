import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import { type Attributes, checkFilter } from '../../../services/knowledge/attribute-filter.ts'
import type { Passage } from '../../../services/knowledge/retrieve.ts'
import type { VectorStoreMembers } from '../../../services/knowledge/vector-stores.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { listPage } from '../public/compat-objects.ts'
import { ListQuery } from '../public/thread-schemas.ts'
import { PathId } from '../schemas.ts'
import { type V1Deps, DeletedAnswer, operation, toDeleted, v1Config, v1Refusals } from './v1-route.ts'
import {
  SearchPage,
  StoreCreateRequest,
  StoreList,
  StoreSearchRequest,
  StoreShape,
  StoreUpdateRequest,
  chunkingOf,
  filterOf,
  toVectorStore,
} from './vector-store-schemas.ts'

const params = Type.Object({ vector_store_id: PathId })
const searchMs = 30_000

/** `vector_stores`: those of the project. */
export const v1VectorStoreRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, deps) => {
  await app.register(listRoutes, deps)
  await app.register(oneStoreRoutes, deps)
  await app.register(searchRoutes, deps)
}

const listRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (
  app,
  { v1: { vectorStores, createStore } },
) => {
  app.get(
    '/vector_stores',
    {
      config: v1Config,
      schema: {
        ...operation('vectorStores.list', 'The vector stores of the project'),
        querystring: ListQuery,
        response: { 200: StoreList, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const { entries: stores, hasMore } = await vectorStores.page(callerOf(request), request.query)
      return listPage({ entries: stores.map(toVectorStore), hasMore })
    },
  )

  app.post(
    '/vector_stores',
    {
      config: { ...v1Config, audit: 'successes' },
      schema: {
        ...operation('vectorStores.create', 'Create a vector store, with files of the project'),
        body: StoreCreateRequest,
        response: { 200: StoreShape, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { file_ids: fileIds = [], chunking_strategy: cut, ...body } = request.body
      const members = membersOf(body)
      const chunking = chunkingOf(cut, ['body', 'chunking_strategy'])
      const files = fileIds.map((fileId) => ({ fileId, chunking }))
      const store = await createStore(caller, members, files)
      return toVectorStore(await vectorStores.read(caller, store._id))
    },
  )
}

const oneStoreRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, { v1: { vectorStores } }) => {
  app.get(
    '/vector_stores/:vector_store_id',
    {
      config: v1Config,
      schema: {
        ...operation('vectorStores.read', 'Read a vector store'),
        params,
        response: { 200: StoreShape, ...v1Refusals(404) },
      },
    },
    async (request) => toVectorStore(await vectorStores.read(callerOf(request), request.params.vector_store_id)),
  )

  app.post(
    '/vector_stores/:vector_store_id',
    {
      config: { ...v1Config, audit: 'successes' },
      schema: {
        ...operation('vectorStores.update', 'Change the name or the metadata of a vector store'),
        params,
        body: StoreUpdateRequest,
        response: { 200: StoreShape, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const { vector_store_id: id } = request.params
      return toVectorStore(await vectorStores.update(callerOf(request), id, membersOf(request.body)))
    },
  )

  app.delete(
    '/vector_stores/:vector_store_id',
    {
      config: { ...v1Config, audit: 'successes' },
      schema: {
        ...operation('vectorStores.delete', 'Delete a vector store; the files of the project stay'),
        params,
        response: {
          200: DeletedAnswer('vector_store.deleted', 'V1VectorStoreDeleted', 'The deletion of a vector store.'),
          ...v1Refusals(404),
        },
      },
    },
    async (request) => {
      const { vector_store_id: id } = request.params
      return toDeleted('vector_store.deleted', id, await vectorStores.remove(callerOf(request), id))
    },
  )
}

const searchRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (
  app,
  { v1: { vectorStores, entries, rewriteQueries } },
) => {
  app.post(
    '/vector_stores/:vector_store_id/search',
    {
      config: { ...v1Config, limits: ['runs_user'] },
      schema: {
        ...operation('vectorStores.search', 'The passages of a vector store that match a query best'),
        params,
        body: StoreSearchRequest,
        response: { 200: SearchPage, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const store = await vectorStores.find(caller, request.params.vector_store_id)
      const {
        query,
        filters,
        max_num_results: limit = 10,
        ranking_options: ranking,
        rewrite_query: rewrite,
      } = request.body
      const filter = filters && filterOf(filters)
      if (filter) checkFilter(filter, ['body', 'filters'])
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(searchMs)])
      const requested = [query].flat()
      const queries = rewrite ? await rewriteQueries(caller, requested, signal) : requested
      const found = await entries.search(store, { queries, limit, filter }, signal)
      await vectorStores.noteActivity(store)
      const best = new Map(
        found
          .filter(({ passage }) => passage.score >= (ranking?.score_threshold ?? 0))
          .toSorted((a, b) => a.passage.score - b.passage.score)
          .map((one) => [`${one.passage.file_id}\n${one.passage.text}`, one]),
      )
      const data = [...best.values()]
        .toSorted((a, b) => b.passage.score - a.passage.score)
        .slice(0, limit)
        .map(({ passage, attributes }) => ({
          file_id: passage.file_id,
          filename: passage.file_name,
          score: passage.score,
          attributes: { ...locationOf(passage), ...attributes },
          content: [{ type: 'text' as const, text: passage.text }],
        }))
      const object = 'vector_store.search_results.page' as const
      return { object, search_query: queries, data, has_more: false, next_page: null }
    },
  )
}

/** Where a passage stands in its file. What the owner has set under the same name stays. */
function locationOf({ page, last_page: lastPage, heading, sheets, url }: Passage): Attributes {
  const sheet = sheets?.[0]?.sheet
  const row = sheets?.[0]?.rows[0]
  return {
    ...(page === undefined ? {} : { page }),
    ...(lastPage === undefined || lastPage === page ? {} : { last_page: lastPage }),
    ...(heading === undefined ? {} : { heading }),
    ...(sheet === undefined ? {} : { sheet }),
    ...(row === undefined ? {} : { row }),
    ...(url === undefined ? {} : { url }),
  }
}

function membersOf({ expires_after: expiry, ...members }: Static<typeof StoreUpdateRequest>): VectorStoreMembers {
  return { ...members, expiresAfterDays: expiry === null ? null : expiry?.days }
}
