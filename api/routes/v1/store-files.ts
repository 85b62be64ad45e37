import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { invalidInput } from '../../../domain/errors.ts'
import { newId } from '../../../domain/ids.ts'
import type { NewEntry } from '../../../services/knowledge/add-entries.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { listPage } from '../public/compat-objects.ts'
import { ListQuery } from '../public/thread-schemas.ts'
import { PathId } from '../schemas.ts'
import { type V1Deps, DeletedAnswer, operation, toDeleted, v1Config, v1Refusals } from './v1-route.ts'
import {
  BatchCreateRequest,
  BatchShape,
  ContentPage,
  EntryCreateRequest,
  EntryList,
  EntryShape,
  EntryUpdateRequest,
  chunkingOf,
  toBatch,
  toEntry,
} from './vector-store-schemas.ts'

const ofStore = Type.Object({ vector_store_id: PathId })
const ofFile = Type.Object({ vector_store_id: PathId, file_id: PathId })
const ofBatch = Type.Object({ vector_store_id: PathId, batch_id: PathId })
const EntryQuery = Type.Object({
  ...ListQuery.properties,
  filter: Type.Optional(Type.Enum(['in_progress', 'completed', 'failed', 'cancelled'])),
})
/** Chunks of one page of a file's text. */
const contentChunks = 1000

/** `vector_stores/{id}/files` and `…/file_batches`. */
export const v1StoreFileRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, deps) => {
  await app.register(listRoutes, deps)
  await app.register(oneFileRoutes, deps)
  await app.register(batchRoutes, deps)
}

/** Finds the store that a request names. */
const storeFinder =
  ({ vectorStores }: Pick<V1Deps['v1'], 'vectorStores'>) =>
  (request: FastifyRequest<{ Params: Static<typeof ofStore> }>) =>
    vectorStores.find(callerOf(request), request.params.vector_store_id)

const listRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, { v1 }) => {
  const { entries } = v1
  const storeOf = storeFinder(v1)

  app.get(
    '/vector_stores/:vector_store_id/files',
    {
      config: v1Config,
      schema: {
        ...operation('vectorStores.files.list', 'The files of a vector store'),
        params: ofStore,
        querystring: EntryQuery,
        response: { 200: EntryList, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const { filter: status, ...query } = request.query
      const page = await entries.page(await storeOf(request), { ...query, status })
      return listPage({ entries: page.entries.map(toEntry), hasMore: page.hasMore })
    },
  )

  app.post(
    '/vector_stores/:vector_store_id/files',
    {
      config: v1Config,
      schema: {
        ...operation(
          'vectorStores.files.create',
          'Add a file of the project to a vector store',
          'Answers at once; its processing goes on. A file that the store has already is not processed again.',
        ),
        params: ofStore,
        body: EntryCreateRequest,
        response: { 200: EntryShape, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const store = await storeOf(request)
      await entries.admit()
      await entries.add(store, [newEntryOf(request.body, ['body'])])
      return toEntry(await entries.find(store, request.body.file_id))
    },
  )
}

const oneFileRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, { v1 }) => {
  const { entries } = v1
  const storeOf = storeFinder(v1)

  app.get(
    '/vector_stores/:vector_store_id/files/:file_id',
    {
      config: v1Config,
      schema: {
        ...operation('vectorStores.files.read', 'Read a file of a vector store'),
        params: ofFile,
        response: { 200: EntryShape, ...v1Refusals(404) },
      },
    },
    async (request) => toEntry(await entries.find(await storeOf(request), request.params.file_id)),
  )

  app.post(
    '/vector_stores/:vector_store_id/files/:file_id',
    {
      config: v1Config,
      schema: {
        ...operation('vectorStores.files.update', 'Replace the attributes of a file of a vector store'),
        params: ofFile,
        body: EntryUpdateRequest,
        response: { 200: EntryShape, ...v1Refusals(404) },
      },
    },
    async (request) =>
      toEntry(await entries.update(await storeOf(request), request.params.file_id, request.body.attributes ?? {})),
  )

  app.delete(
    '/vector_stores/:vector_store_id/files/:file_id',
    {
      config: { ...v1Config, audit: 'successes' },
      schema: {
        ...operation('vectorStores.files.delete', 'Remove a file from a vector store; the file of the project stays'),
        params: ofFile,
        response: {
          200: DeletedAnswer(
            'vector_store.file.deleted',
            'V1VectorStoreFileDeleted',
            'The removal of a file from a vector store.',
          ),
          ...v1Refusals(404),
        },
      },
    },
    async (request) => {
      const { file_id: id } = request.params
      return toDeleted('vector_store.file.deleted', id, await entries.remove(await storeOf(request), id))
    },
  )

  app.get(
    '/vector_stores/:vector_store_id/files/:file_id/content',
    {
      config: v1Config,
      schema: {
        ...operation('vectorStores.files.content', 'The text of a file, in chunks that may overlap'),
        params: ofFile,
        response: { 200: ContentPage, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const page = await entries.content(await storeOf(request), request.params.file_id, contentChunks)
      const data = page.entries.map(({ text }) => ({ type: 'text' as const, text }))
      return { object: 'vector_store.file_content.page' as const, data, has_more: page.hasMore, next_page: null }
    },
  )
}

const batchRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, { v1 }) => {
  const { entries } = v1
  const storeOf = storeFinder(v1)

  app.post(
    '/vector_stores/:vector_store_id/file_batches',
    {
      config: v1Config,
      schema: {
        ...operation('vectorStores.fileBatches.create', 'Add files of the project to a vector store'),
        params: ofStore,
        body: BatchCreateRequest,
        response: { 200: BatchShape, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const { file_ids: ids, files, ...shared } = request.body
      if ((ids === undefined) === (files === undefined))
        throw invalidInput(['body', 'file_ids'], 'name either file_ids or files', 'missing')
      const wanted = files
        ? files.map((file, index) => newEntryOf(file, ['body', 'files', index]))
        : (ids ?? []).map((id) => newEntryOf({ file_id: id, ...shared }, ['body']))
      const store = await storeOf(request)
      await entries.admit()
      const id = newId()
      await entries.add(store, wanted, id)
      return toBatch(await entries.batches.read(store, id))
    },
  )

  app.get(
    '/vector_stores/:vector_store_id/file_batches/:batch_id',
    {
      config: v1Config,
      schema: {
        ...operation('vectorStores.fileBatches.read', 'How far the files of a batch are'),
        params: ofBatch,
        response: { 200: BatchShape, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const store = await storeOf(request)
      const { batch_id: id } = request.params
      return toBatch(await entries.batches.read(store, id))
    },
  )

  app.post(
    '/vector_stores/:vector_store_id/file_batches/:batch_id/cancel',
    {
      config: { ...v1Config, audit: 'successes' },
      schema: {
        ...operation('vectorStores.fileBatches.cancel', 'End the processing of the files of a batch that are not done'),
        params: ofBatch,
        response: { 200: BatchShape, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const store = await storeOf(request)
      const { batch_id: id } = request.params
      await entries.batches.cancel(store, id)
      return toBatch(await entries.batches.read(store, id))
    },
  )

  app.get(
    '/vector_stores/:vector_store_id/file_batches/:batch_id/files',
    {
      config: v1Config,
      schema: {
        ...operation('vectorStores.fileBatches.listFiles', 'The files of a batch'),
        params: ofBatch,
        querystring: EntryQuery,
        response: { 200: EntryList, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const store = await storeOf(request)
      const { batch_id: batchId } = request.params
      const { filter: status, ...query } = request.query
      const batch = await entries.batches.find(store, batchId)
      const page = await entries.page(store, { ...query, status, batch })
      return listPage({ entries: page.entries.map(toEntry), hasMore: page.hasMore })
    },
  )
}

function newEntryOf(
  { file_id: fileId, attributes, chunking_strategy: cut }: Static<typeof EntryCreateRequest>,
  loc: (string | number)[],
): NewEntry {
  return {
    fileId,
    attributes: attributes ?? undefined,
    chunking: chunkingOf(cut, [...loc, 'chunking_strategy']),
  }
}
