import Type, { type Static } from 'typebox'
import { AnyKey, ShortKey } from '../../../domain/any-key.ts'
import { defaultChunkerOptions, maxChunkTokens } from '../../../domain/chunking/chunker-options.ts'
import { invalidInput } from '../../../domain/errors.ts'
import { Metadata } from '../../../domain/metadata.ts'
import type { FileRecord } from '../../../domain/records/file.ts'
import type { AttributeFilter } from '../../../services/knowledge/attribute-filter.ts'
import { filterTypes } from '../../../services/knowledge/attribute-filter.ts'
import { type EntryRecord, attributesOf } from '../../../services/knowledge/entry-record.ts'
import type { FileBatch } from '../../../services/knowledge/file-batches.ts'
import { type VectorStoreView, entryStatusOf, isExpired } from '../../../services/knowledge/vector-stores.ts'
import { secondsOf } from '../public/compat-objects.ts'
import { listOf } from '../public/thread-schemas.ts'
import { nullable } from '../schemas.ts'
import { strict } from './v1-route.ts'

/** Following the types of the `openai` package (resources/vector-stores). */
const seconds = Type.Integer({ description: 'Seconds since 1970.' })
export const fileId = Type.String({ minLength: 1, maxLength: 128 })
export const maxFiles = 500

const AttributesInput = Type.Record(
  ShortKey,
  Type.Union([Type.String({ maxLength: 512 }), Type.Number(), Type.Boolean()]),
  { maxProperties: 16, additionalProperties: false, description: 'What searches can filter by.' },
)
export const ChunkingInput = strict(
  {
    type: Type.Enum(['auto', 'static']),
    static: Type.Optional(
      strict({
        max_chunk_size_tokens: Type.Integer({
          minimum: 100,
          maximum: maxChunkTokens,
          description: 'The embedding model must take texts of this length.',
        }),
        chunk_overlap_tokens: Type.Integer({ minimum: 0, maximum: maxChunkTokens / 2 }),
      }),
    ),
  },
  { title: 'V1ChunkingStrategyRequest', about: 'How files are cut into chunks.' },
)
const ExpiresAfter = strict({
  anchor: Type.Literal('last_active_at'),
  days: Type.Integer({ minimum: 1, maximum: 365 }),
})

export const StoreCreateRequest = strict(
  {
    name: Type.Optional(nullable(Type.String({ maxLength: 256 }))),
    description: Type.Optional(Type.String({ maxLength: 512 })),
    metadata: Type.Optional(nullable(Metadata)),
    file_ids: Type.Optional(Type.Array(fileId, { maxItems: maxFiles })),
    chunking_strategy: Type.Optional(ChunkingInput),
    expires_after: Type.Optional(nullable(ExpiresAfter)),
  },
  { title: 'V1VectorStoreCreateRequest', about: 'A new vector store.' },
)
export const StoreUpdateRequest = strict(
  {
    name: Type.Optional(nullable(Type.String({ maxLength: 256 }))),
    metadata: Type.Optional(nullable(Metadata)),
    expires_after: Type.Optional(nullable(ExpiresAfter)),
  },
  { title: 'V1VectorStoreUpdateRequest', about: 'The members of a vector store to change.' },
)
const entryMembers = {
  attributes: Type.Optional(nullable(AttributesInput)),
  chunking_strategy: Type.Optional(ChunkingInput),
}
export const EntryCreateRequest = strict(
  { file_id: fileId, ...entryMembers },
  { title: 'V1VectorStoreFileRequest', about: 'A file to add to a vector store.' },
)
export const EntryUpdateRequest = strict(
  { attributes: nullable(AttributesInput) },
  { title: 'V1VectorStoreFileUpdateRequest', about: 'The attributes of a file.' },
)
export const BatchCreateRequest = strict(
  {
    ...entryMembers,
    file_ids: Type.Optional(Type.Array(fileId, { minItems: 1, maxItems: maxFiles })),
    files: Type.Optional(Type.Array(strict({ file_id: fileId, ...entryMembers }), { minItems: 1, maxItems: maxFiles })),
  },
  {
    title: 'V1FileBatchRequest',
    about: 'Files to add to a vector store.',
    description: 'Either `file_ids` or `files`.',
  },
)

const value = Type.Union([Type.String({ maxLength: 512 }), Type.Number(), Type.Boolean()])
/** Nested by hand: five levels, as the service allows. */
const leaf = {
  type: Type.Enum([...filterTypes]),
  key: Type.Optional(Type.String({ maxLength: 64 })),
  value: Type.Optional(
    Type.Union([value, Type.Array(Type.Union([Type.String({ maxLength: 512 }), Type.Number()]), { maxItems: 100 })]),
  ),
}
const nested = <T extends Type.TSchema>(inner: T) =>
  strict({ ...leaf, filters: Type.Optional(Type.Array(inner, { maxItems: 50 })) })
export const Filter = nested(nested(nested(strict(leaf))))

const queryText = Type.String({ minLength: 1, maxLength: 2000 })
export const StoreSearchRequest = strict(
  {
    query: Type.Union([queryText, Type.Array(queryText, { minItems: 1, maxItems: 5 })]),
    filters: Type.Optional(Filter),
    max_num_results: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 10 })),
    ranking_options: Type.Optional(
      strict({
        ranker: Type.Optional(Type.String({ maxLength: 64, description: 'Has no effect: there is one.' })),
        score_threshold: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
      }),
    ),
    rewrite_query: Type.Optional(
      Type.Boolean({
        description: 'The default model rewrites the query before the search; `search_query` of the answer says how.',
      }),
    ),
  },
  { title: 'V1VectorStoreSearchRequest', about: 'A query for the files of a vector store.' },
)
export const filterOf = (filter: Static<typeof Filter>): AttributeFilter => filter

const Counts = Type.Object({
  in_progress: Type.Integer(),
  completed: Type.Integer(),
  failed: Type.Integer(),
  cancelled: Type.Integer(),
  total: Type.Integer(),
})

export const StoreShape = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('vector_store'),
    created_at: seconds,
    name: Type.String(),
    description: Type.Optional(Type.String()),
    usage_bytes: Type.Integer({ description: 'Of the files. A file that several stores share is stored once.' }),
    file_counts: Counts,
    status: Type.Enum(['expired', 'in_progress', 'completed'], {
      description: 'An expired one cannot be searched, and is deleted within minutes.',
    }),
    expires_after: nullable(Type.Object({ anchor: Type.Literal('last_active_at'), days: Type.Integer() })),
    expires_at: nullable(seconds),
    last_active_at: seconds,
    metadata: Type.Record(AnyKey, Type.String()),
  },
  { title: 'V1VectorStore', about: 'Files that assistants of a project search together.' },
)
export const StoreList = listOf(StoreShape, 'V1VectorStoreList', 'A page of vector stores.')

export function toVectorStore({ record, metadata, counts, bytes }: VectorStoreView): Static<typeof StoreShape> {
  const { store } = record
  const { expires_after_days: days } = store
  return {
    id: record._id,
    object: 'vector_store',
    created_at: secondsOf(record.created_at),
    name: record.name,
    ...(store.description === undefined ? {} : { description: store.description }),
    usage_bytes: bytes,
    file_counts: counts,
    status: isExpired(record) ? 'expired' : counts.in_progress > 0 ? 'in_progress' : 'completed',
    expires_after: days === undefined ? null : { anchor: 'last_active_at', days },
    expires_at: store.expires_at === undefined ? null : secondsOf(store.expires_at),
    last_active_at: secondsOf(store.last_active_at),
    metadata,
  }
}

const AttributesShape = Type.Record(AnyKey, Type.Union([Type.String(), Type.Number(), Type.Boolean()]))

export const EntryShape = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('vector_store.file'),
    created_at: seconds,
    vector_store_id: Type.String(),
    status: Type.Enum(['in_progress', 'completed', 'failed', 'cancelled'], {
      title: 'V1VectorStoreFileStatus',
      about: 'How far the processing of a file is.',
    }),
    last_error: nullable(Type.Object({ code: Type.Enum(['server_error', 'invalid_file']), message: Type.String() })),
    usage_bytes: Type.Integer(),
    attributes: AttributesShape,
    chunking_strategy: Type.Object({
      type: Type.Literal('static'),
      static: Type.Object({ max_chunk_size_tokens: Type.Integer(), chunk_overlap_tokens: Type.Integer() }),
    }),
  },
  { title: 'V1VectorStoreFile', about: 'A file in a vector store, and how far its processing is.' },
)
export const EntryList = listOf(EntryShape, 'V1VectorStoreFileList', 'A page of the files of a vector store.')

export function toEntry(entry: EntryRecord): Static<typeof EntryShape> {
  const status = entryStatusOf(entry)
  const { maxTokens, overlapTokens } = defaultChunkerOptions
  return {
    id: entry.source_id,
    object: 'vector_store.file',
    created_at: secondsOf(entry.created_at),
    vector_store_id: entry.assistant_id,
    status,
    last_error:
      status === 'failed'
        ? { code: entry.retryable === false ? 'invalid_file' : 'server_error', message: entry.error ?? 'It failed.' }
        : null,
    usage_bytes: entry.size,
    attributes: attributesOf(entry),
    chunking_strategy: {
      type: 'static',
      static: {
        max_chunk_size_tokens: entry.chunking?.max_tokens ?? maxTokens,
        chunk_overlap_tokens: entry.chunking?.overlap_tokens ?? overlapTokens,
      },
    },
  }
}

export const BatchShape = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('vector_store.files_batch'),
    created_at: seconds,
    vector_store_id: Type.String(),
    status: Type.Enum(['in_progress', 'completed', 'cancelled'], {
      title: 'V1FileBatchStatus',
      about: 'How far a batch of files is.',
    }),
    file_counts: Counts,
  },
  { title: 'V1FileBatch', about: 'Files that were added to a vector store together.' },
)

export function toBatch({ record, counts }: FileBatch): Static<typeof BatchShape> {
  return {
    id: record._id,
    object: 'vector_store.files_batch',
    created_at: secondsOf(record.created_at),
    vector_store_id: record.assistant_id,
    status: record.cancelled_at !== undefined ? 'cancelled' : counts.in_progress > 0 ? 'in_progress' : 'completed',
    file_counts: counts,
  }
}

export const SearchPage = Type.Object(
  {
    object: Type.Literal('vector_store.search_results.page'),
    search_query: Type.Array(Type.String()),
    data: Type.Array(
      Type.Object({
        file_id: Type.String(),
        filename: Type.String(),
        score: Type.Number(),
        attributes: AttributesShape,
        content: Type.Array(Type.Object({ type: Type.Literal('text'), text: Type.String() })),
      }),
    ),
    has_more: Type.Boolean(),
    next_page: Type.Null(),
  },
  { title: 'V1VectorStoreSearchPage', about: 'Passages, best first.' },
)

export const ContentPage = Type.Object(
  {
    object: Type.Literal('vector_store.file_content.page'),
    data: Type.Array(Type.Object({ type: Type.Literal('text'), text: Type.String() })),
    has_more: Type.Boolean(),
    next_page: Type.Null(),
  },
  { title: 'V1VectorStoreFileContent', about: 'The text of a file, in chunks that may overlap.' },
)

/** How to cut a file; undefined: as usual. Throws `invalid_input` for what the reader cannot do. */
export function chunkingOf(
  requested: Static<typeof ChunkingInput> | undefined,
  loc: (string | number)[],
): FileRecord['chunking'] {
  if (requested === undefined || requested.type === 'auto') return undefined
  if (requested.static === undefined) throw invalidInput([...loc, 'static'], 'is required', 'missing')
  const { max_chunk_size_tokens: most, chunk_overlap_tokens: overlap } = requested.static
  if (overlap * 2 > most)
    throw invalidInput([...loc, 'static', 'chunk_overlap_tokens'], 'is at most half of max_chunk_size_tokens')
  return { max_tokens: most, overlap_tokens: overlap }
}
