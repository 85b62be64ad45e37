import { createHash } from 'node:crypto'
import { QdrantClient } from '@qdrant/js-client-rest'
import { AppError } from '../../domain/errors.ts'
import { spaceOwner } from '../../domain/knowledge/vector-space.ts'
import type { VectorStore } from '../../services/knowledge/vector-store.ts'
import { within } from '../../services/within.ts'

interface QdrantOptions {
  url: string
  apiKey?: string | undefined
  collection: string
  /** A request fails after this time. */
  requestTimeoutMs?: number
}

/** Qdrant takes 32 MB a request by default; a number in JSON has about 20 characters. */
const upsertBytes = 8_000_000
const bytesOfNumber = 20
const pingTimeoutMs = 2000
/** Hits of one facet request: the most spaces, and the most files of a space, that a sweep examines. */
const facetLimit = 1_000_000

/**
 * Qdrant, one collection for all spaces, as its documentation advises: each point names its space in its payload
 * (as `assistant_id`: the first space has the assistant's id), and the index is built for each space. Points of later
 * spaces also name their assistant (`owner`). The first upsert makes the collection. Dense search only.
 */
export function createQdrantStore(options: QdrantOptions): VectorStore {
  const { collection } = options
  const client = createClient(options)
  const made = createCollectionMaker(client, collection)

  async function values(key: string, filter?: Filter): Promise<string[]> {
    const query = { key, limit: facetLimit, exact: true, ...(filter && { filter }) }
    const found = await send(client.facet(collection, query))
    return (found?.hits ?? []).map(({ value }) => String(value))
  }

  return {
    name: 'qdrant',

    async ping() {
      const answer = await within(pingTimeoutMs, send(client.collectionExists(collection)))
      if (answer === undefined) throw unavailable(new Error('no answer in time'))
    },

    async upsert(space, records) {
      const dimensions = records[0]?.vector.length ?? 0
      if (dimensions === 0) return
      await made.ready(dimensions)
      const { assistantId, generation } = spaceOwner(space)
      const of = { assistant_id: space, ...(generation === 0 ? {} : { owner: assistantId }) }
      const size = Math.max(1, Math.floor(upsertBytes / (dimensions * bytesOfNumber)))
      for (let start = 0; start < records.length; start += size) {
        const points = records.slice(start, start + size).map(({ id, fileId, position, vector }) => ({
          id: pointIdOf(space, id),
          vector,
          payload: { ...of, file_id: fileId, chunk_id: id, position },
        }))
        const stored = await send(client.upsert(collection, { wait: true, points }))
        if (stored === undefined) {
          made.forget()
          throw unavailable(new Error('the collection was deleted'))
        }
      }
    },

    async search(space, { vector, limit, fileIds }) {
      if (vector === undefined) return []
      const files = fileIds === undefined ? [] : [{ key: 'file_id', match: { any: fileIds } }]
      const { must } = inSpace(space)
      const query = {
        query: vector,
        filter: { must: [...must, ...files] },
        limit,
        with_payload: ['chunk_id', 'file_id'],
      }
      const found = await send(client.query(collection, query))
      return (found?.points ?? []).map(({ payload, score }) => ({
        id: String(payload?.['chunk_id']),
        fileId: String(payload?.['file_id']),
        score: Math.min(1, Math.max(0, score)),
      }))
    },

    async count(space, fileId) {
      const found = await send(client.count(collection, { filter: inSpace(space, fileId), exact: true }))
      return found?.count ?? 0
    },

    async deleteFile(space, fileId) {
      await send(client.delete(collection, { wait: true, filter: inSpace(space, fileId) }))
    },

    async deleteSpace(space) {
      await send(client.delete(collection, { wait: true, filter: inSpace(space) }))
    },

    async spacesOf(assistantId) {
      const later = await values('assistant_id', { must: [is('owner', assistantId)] })
      return [assistantId, ...later]
    },
    listSpaces: () => values('assistant_id'),
    listFiles: (space) => values('file_id', inSpace(space)),
    // Qdrant keeps its own indexes, and ids are unique.
    finalize: async () => undefined,
    // The client's idle connections do not keep the process alive.
    close: async () => undefined,
  }
}

function createClient({ url, apiKey, requestTimeoutMs = 30_000 }: QdrantOptions): QdrantClient {
  const { origin, pathname } = new URL(url)
  return new QdrantClient({
    url: origin,
    // Otherwise the client would use port 6333 for an address without a port.
    port: null,
    prefix: pathname === '/' ? '' : pathname,
    // As a header, because the client warns on the console about a key without TLS.
    ...(apiKey === undefined ? {} : { headers: { 'api-key': apiKey } }),
    timeout: requestTimeoutMs,
    checkCompatibility: false,
  })
}

/** Makes the collection with its indexes before the first points are stored. */
function createCollectionMaker(client: QdrantClient, collection: string) {
  let made: Promise<void> | undefined

  /** Safe to repeat, and for several processes at once. */
  async function make(dimensions: number): Promise<void> {
    if (!(await send(client.collectionExists(collection)))?.exists) {
      const options = {
        vectors: { size: dimensions, distance: 'Cosine' as const },
        hnsw_config: { m: 0, payload_m: 16 },
      }
      await client.createCollection(collection, options).catch((error: unknown) => {
        if (statusOf(error) !== 409) throw failureOf(error)
      })
    }
    const index = {
      wait: true,
      field_name: 'assistant_id',
      field_schema: { type: 'keyword' as const, is_tenant: true },
    }
    await send(client.createPayloadIndex(collection, index))
    for (const field_name of ['file_id', 'owner'])
      await send(client.createPayloadIndex(collection, { ...index, field_name, field_schema: 'keyword' }))
  }

  return {
    async ready(dimensions: number): Promise<void> {
      made ??= make(dimensions)
      await made.catch((error: unknown) => {
        made = undefined
        throw error
      })
    },
    /** Somebody has deleted the collection. */
    forget(): void {
      made = undefined
    },
  }
}

type Filter = ReturnType<typeof inSpace>

const is = (key: string, value: string) => ({ key, match: { value } })

function inSpace(space: string, fileId?: string) {
  return { must: [is('assistant_id', space), ...(fileId === undefined ? [] : [is('file_id', fileId)])] }
}

/** Qdrant's ids are UUIDs: made from the space and the chunk, so that storing a chunk again replaces it. */
function pointIdOf(space: string, chunkId: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([space, chunkId]))
    .digest('hex')
  // Version 8 of RFC 9562: of the maker's own design.
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

/** Undefined if there is no collection: it is empty. */
async function send<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw failureOf(error)
  }
}

function failureOf(error: unknown): AppError {
  return statusOf(error) === 400
    ? new AppError(
        'conflict',
        'The vector store refused the request: do the dimensions of the collection (QDRANT_COLLECTION) fit EMBEDDING_DIMENSIONS?',
        { cause: error },
      )
    : unavailable(error)
}

function statusOf(error: unknown): number | undefined {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined
}

function unavailable(cause: unknown): AppError {
  return new AppError('unavailable', 'The vector store does not answer.', { cause })
}
