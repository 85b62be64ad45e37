import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { toJsonText } from '../../domain/json.ts'
import { projectOwner } from '../../domain/knowledge/project-files.ts'
import type { VectorStoreRecord } from '../../domain/records/assistant.ts'
import { type FileRecord, newFile } from '../../domain/records/file.ts'
import type { Collections } from '../collections.ts'
import { parentsRemain } from '../parents.ts'
import { assistantStore } from '../stores/assistants.ts'
import { fileBatchStore } from '../stores/file-batches.ts'
import { projectFileStore, fileStore } from '../stores/files.ts'
import type { Attributes } from './attribute-filter.ts'
import type { KnowledgeCollections } from './collections.ts'
import { noEmbeddingModel } from './embedder.ts'
import type { EntryRecord } from './entry-record.ts'
import { newBatch } from './file-batches.ts'
import type { IngestionPosition } from './ingestion-of.ts'
import type { StartIngestion } from './start-ingestion.ts'
import type { VectorStore } from './vector-store.ts'
import { noteActivity, requireUnexpired } from './vector-stores.ts'

export interface AddEntriesDeps {
  collections: KnowledgeCollections & Pick<Collections, 'users' | 'assistants' | 'projects'>
  vectors: Pick<VectorStore, 'ping'>
  startIngestion: StartIngestion
  /** Whether an embedding model is configured. */
  canEmbed: boolean
}

export interface NewEntry {
  fileId: string
  attributes?: Attributes | undefined
  chunking?: FileRecord['chunking'] | undefined
}

/** Adds files of a project to its vector stores. */
export function createAddEntries({ collections, vectors, startIngestion, canEmbed }: AddEntriesDeps) {
  const files = fileStore(collections)
  const entries = projectFileStore(collections)
  const batches = fileBatchStore(collections)

  return {
    /** Call before anything is stored: throws `unavailable` if files could not be processed. */
    async admit(): Promise<void> {
      if (!canEmbed) throw noEmbeddingModel()
      await vectors.ping()
    },

    /**
     * Adds files of the project and starts their ingestion. A file that the store has already is not processed again,
     * unless it failed or was cancelled.
     * All or nothing for those that are new, and for the batch `batchId`, which holds all of them. Throws `not_found` for
     * a file of another project.
     */
    async add(store: VectorStoreRecord, wanted: NewEntry[], batchId?: string): Promise<void> {
      const unique = [...new Map(wanted.map((entry) => [entry.fileId, entry])).values()]
      const sources = await sourcesOf(
        store,
        unique.map(({ fileId }) => fileId),
      )
      if (unique.length === 0) return
      requireUnexpired(store)
      await noteActivity(collections, store)
      if (store.has_files !== true) await assistantStore(collections).noteHasFiles(store._id)
      const ingestionId = newId()
      const opened: EntryRecord[] = []
      const known: string[] = []
      try {
        for (const entry of unique) {
          const source = sources.get(entry.fileId)
          if (source === undefined) continue
          const { stored, knownId } = await open(store, source, entry, { ingestionId, order: opened.length })
          if (stored !== undefined) opened.push(stored)
          else if (knownId !== undefined) known.push(knownId)
        }
        const all = [...known, ...opened.map(({ _id }) => _id)]
        if (batchId !== undefined) await batches.add(newBatch(store, batchId, all))
        else if (opened.length === 0) return
        const sourceIds = opened.map(({ source_id: id }) => id)
        if (!(await remain(store, sourceIds)))
          throw new AppError('not_found', 'The vector store or a file was deleted in the meantime.')
        if (opened.length === 0) return
        await startIngestion(store, { ingestionId, fileIds: opened.map(({ _id }) => _id) })
        await files.queueIngestion(ingestionId)
      } catch (error) {
        await files.removeAllUnseen(opened.map(({ _id }) => _id))
        if (batchId !== undefined) await batches.remove(store._id, batchId)
        throw error
      }
    },
  }

  /** The project's files with these ids. Throws `not_found` if one is missing. */
  async function sourcesOf(store: VectorStoreRecord, ids: string[]): Promise<Map<string, FileRecord>> {
    const found = await files.listReady(projectOwner(store.project_id), ids)
    const byId = new Map(found.map((file) => [file._id, file]))
    const missing = ids.find((id) => !byId.has(id))
    if (missing !== undefined) throw new AppError('not_found', `There is no file ${missing}.`)
    return byId
  }

  /** `knownId`: the store has the file already, so that only its attributes change. */
  async function open(store: VectorStoreRecord, source: FileRecord, wanted: NewEntry, position: IngestionPosition) {
    const { attributes } = wanted
    const entry = newEntry(store, source, wanted, position)
    if (await entries.addEntry(entry)) return { stored: entry }
    if (attributes !== undefined) await entries.setAttributes(store._id, source._id, toJsonText(attributes))
    return { knownId: await entries.idOfEntry(store._id, source._id) }
  }

  /** Whether all that an entry needs is still there, after it was stored: see services/parents.ts. */
  async function remain(store: VectorStoreRecord, sources: string[]): Promise<boolean> {
    const [parents, count] = await Promise.all([
      parentsRemain(collections, { project_id: store.project_id, assistant_id: store._id }),
      entries.countAll(sources),
    ])
    return parents && count === sources.length
  }
}

/** Its bytes are those of the source. */
function newEntry(
  store: VectorStoreRecord,
  source: FileRecord,
  { attributes, chunking }: NewEntry,
  { ingestionId, order }: IngestionPosition,
): EntryRecord {
  return {
    _id: newId(),
    assistant_id: store._id,
    source_id: source._id,
    ...(attributes === undefined ? {} : { attributes_json: toJsonText(attributes) }),
    ...(chunking === undefined ? {} : { chunking }),
    user_id: source.user_id,
    ingestion_id: ingestionId,
    order,
    name: source.name,
    content_type: source.content_type,
    size: source.size,
    sha256: source.sha256,
    blob_id: source.blob_id,
    ...newFile(new Date()),
  }
}
