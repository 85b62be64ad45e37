import { Pinecone } from '@pinecone-database/pinecone'
import { addAll } from '../../domain/add-all.ts'
import { AppError } from '../../domain/errors.ts'
import { spaceOwner } from '../../domain/knowledge/vector-space.ts'
import type { VectorRecord, VectorStore } from '../../services/knowledge/vector-store.ts'
import { within } from '../../services/within.ts'
import { scanningFetch } from '../outbound/scan-answer.ts'

interface PineconeOptions {
  apiKey: string
  /** Name of the index; its host is looked up unless `host` gives it. */
  index?: string | undefined
  host?: string | undefined
}

type Metadata = { file_id: string; position: number }

/** The service's own limit for one request; Pinecone allows 1000 records and 2 MB. */
const upsertBytes = 1_500_000
const deleteBatch = 1000
const requestTimeoutMs = 30_000
const maxAnswerBytes = 8 * 1024 * 1024
const pingTimeoutMs = 2000

/**
 * Pinecone, a namespace for each space. Its client retries 5xx; the activity retries 429 and broken
 * connections. Pinecone shows a write only some seconds later: `count` may lag behind.
 */
export function createPineconeStore(options: PineconeOptions): VectorStore {
  const index = createIndexAccess(options)
  const records = (space: string) => index().namespace(space)

  const idsOf = (space: string, prefix: string) =>
    pages(async (paginationToken) => {
      const page = await send(records(space).listPaginated({ prefix, limit: 100, ...paginationToken }))
      const ids = (page?.vectors ?? []).flatMap(({ id }) => (id === undefined ? [] : [id]))
      return { entries: ids, next: page?.pagination?.next }
    })
  const spaces = () =>
    pages(async (paginationToken) => {
      const page = await send(index().listNamespaces({ limit: 100, ...paginationToken }))
      const names = (page?.namespaces ?? []).flatMap(({ name }) => (name ? [name] : []))
      return { entries: names, next: page?.pagination?.next }
    })

  return {
    name: 'pinecone',

    async ping() {
      const stats = await within(pingTimeoutMs, send(index().describeIndexStats()))
      if (stats === undefined) throw unavailable(new Error('no answer in time'))
    },

    async upsert(space, vectors) {
      const size = Math.max(1, Math.floor(upsertBytes / ((vectors[0]?.vector.length ?? 1) * 12)))
      for (let start = 0; start < vectors.length; start += size)
        await send(records(space).upsert({ records: vectors.slice(start, start + size).map(recordOf) }))
    },

    async search(space, { vector, limit, fileIds }) {
      if (vector === undefined) return []
      const found = await send(
        records(space).query({
          vector,
          topK: limit,
          includeMetadata: true,
          ...(fileIds === undefined ? {} : { filter: { file_id: { $in: fileIds } } }),
        }),
      )
      return (found?.matches ?? []).map(({ id, score, metadata }) => ({
        id,
        fileId: metadata?.file_id ?? '',
        score: Math.min(1, Math.max(0, score ?? 0)),
      }))
    },

    async count(space, fileId) {
      if (fileId !== undefined) {
        let count = 0
        for await (const ids of idsOf(space, `${fileId}:`)) count += ids.length
        return count
      }
      const stats = await send(index().describeIndexStats())
      return stats?.namespaces?.[space]?.recordCount ?? 0
    },

    async deleteFile(space, fileId) {
      // Listed to the end before anything is deleted, because deletions may shift pages.
      const all: string[] = []
      for await (const ids of idsOf(space, `${fileId}:`)) addAll(all, ids)
      while (all.length > 0) await send(records(space).deleteMany({ ids: all.splice(-deleteBatch) }))
    },

    async deleteSpace(space) {
      await send(index().deleteNamespace(space))
    },

    async spacesOf(assistantId) {
      const stats = await send(index().describeIndexStats())
      const later = Object.keys(stats?.namespaces ?? {}).filter(
        (space) => space !== assistantId && spaceOwner(space).assistantId === assistantId,
      )
      return [assistantId, ...later]
    },

    async listSpaces() {
      const found: string[] = []
      for await (const names of spaces()) addAll(found, names)
      return found
    },

    async listFiles(space) {
      const files = new Set<string>()
      for await (const ids of idsOf(space, '')) for (const id of ids) files.add(id.slice(0, id.lastIndexOf(':')))
      return [...files]
    },

    // Pinecone keeps its own indexes, and ids are unique.
    finalize: async () => undefined,
    close: async () => undefined,
  }
}

function createIndexAccess({ apiKey, index: name, host }: PineconeOptions) {
  const client = new Pinecone({
    apiKey,
    maxRetries: 2,
    // The client sets no timeout, and a request to a dead peer would hang.
    fetchApi: scanningFetch((input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(requestTimeoutMs) }), {
      bytes: maxAnswerBytes,
    }),
  })
  return () =>
    client.index<Metadata>({
      ...(name === undefined ? {} : { name }),
      ...(host === undefined ? {} : { host }),
    })
}

function recordOf({ id, fileId, position, vector }: VectorRecord) {
  return { id, values: vector, metadata: { file_id: fileId, position } }
}

/** The pages of a list that are not empty. `ask` is given the token of the page. */
async function* pages(
  ask: (token: { paginationToken?: string }) => Promise<{ entries: string[]; next: string | undefined }>,
): AsyncGenerator<string[]> {
  let paginationToken: string | undefined
  do {
    const { entries, next } = await ask(paginationToken ? { paginationToken } : {})
    if (entries.length > 0) yield entries
    paginationToken = next
  } while (paginationToken)
}

/** Undefined if there is no such namespace: it is empty. */
async function send<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request
  } catch (error) {
    const name = error instanceof Error ? error.name : ''
    if (name === 'PineconeNotFoundError') return undefined
    if (name === 'PineconeBadRequestError')
      throw new AppError(
        'conflict',
        'The vector store refused the vectors: does its dimension fit the embedding model?',
        { cause: error },
      )
    throw unavailable(error)
  }
}

function unavailable(cause: unknown): AppError {
  return new AppError('unavailable', 'The vector store does not answer.', { cause })
}
