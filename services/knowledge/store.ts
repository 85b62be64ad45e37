import type { ClientSession } from 'mongoose'
import { cutText } from '../../domain/cut-text.ts'
import { projectOf } from '../../domain/knowledge/project-files.ts'
import type { MemoryScope } from '../../domain/memory/memory-scope.ts'
import { type FileRecord, contentOf, isUploaded, openFileStatuses } from '../../domain/records/file.ts'
import type { MemoryRecord } from '../../domain/records/memory.ts'
import type { Collections } from '../collections.ts'
import type { StoredContent } from '../stores/chunks.ts'
import { isDeleted, isMatched } from '../stores/results.ts'
import type { KnowledgeCollections } from './collections.ts'

type Files = Pick<KnowledgeCollections, 'files'>
type FileKey = Pick<FileRecord, '_id'>

const holding: { status: { $in: FileRecord['status'][] } } = { status: { $in: ['queued', 'processing', 'ready'] } }
const isReady = { status: 'ready' as const }
const isProcessing = { status: 'processing' as const }
const isOpen = { status: { $in: [...openFileStatuses] } }

/** The filters of the files that use the chunks and vectors under an id: the one that was read, and its copies. */
function usersOf(contentId: string) {
  // An attempt that was cut off may have stored chunks of a file that has become a copy since: it does not use them.
  return { first: { _id: contentId, content_id: { $in: [null, contentId] } }, copies: { content_id: contentId } }
}

/** Statements on files by their contents: the same bytes twice in an assistant are one set of chunks and vectors. */
export const contentStore = ({ files }: Files) => ({
  /** Whether another file than `except` uses these chunks and vectors. */
  async isShared({ assistantId, contentId, except }: StoredContent & { except?: string }): Promise<boolean> {
    const others = { assistant_id: assistantId, ...holding }
    const self = contentId === except ? null : await files.exists({ ...usersOf(contentId).first, ...others })
    if (self !== null) return true
    const copies = { content_id: contentId, ...others, ...(except === undefined ? {} : { _id: { $ne: except } }) }
    return (await files.exists(copies)) !== null
  },

  /** Whether a record names the chunks and vectors that are stored under this id. */
  isNamedOfAny: async (contentId: string): Promise<boolean> =>
    (await files.exists({ _id: contentId })) !== null || (await files.exists({ content_id: contentId })) !== null,

  /** Of a file that arrived in parts: later copies find it, too. */
  noteHash: async ({ _id }: FileKey, sha256: string) => files.updateOne({ _id }, { $set: { sha256 } }),

  /** Other files of its owner with these bytes. */
  listCopies: async ({ _id, assistant_id }: FileRecord, sha256: string) =>
    files.find({ assistant_id, ...isUploaded, ...holding, _id: { $ne: _id }, sha256 }).lean<FileRecord[]>(),

  /**
   * Makes a file ready by the chunks and vectors of its copy. False if one of them has changed: either the copy's deletion
   * comes first, or it finds that this file uses its chunks.
   */
  async join({ _id }: FileKey, copy: FileKey, session: ClientSession): Promise<boolean> {
    const now = new Date()
    const held = await files
      .findOneAndUpdate({ _id: copy._id, ...isReady }, { $set: { updated_at: now } }, { session })
      .lean<FileRecord>()
    if (held === null) return false
    const { chunks, characters, content_type: contentType, scan, generation } = held
    const joined = await files.updateOne(
      { _id, status: { $in: ['queued', 'processing'] }, chunks: 0, extracted: false },
      {
        $set: {
          content_id: contentOf(held),
          content_type: contentType,
          status: 'ready',
          chunks,
          characters,
          embedded: chunks,
          extracted: true,
          ...(scan === undefined ? {} : { scan }),
          ...(generation === undefined ? {} : { generation }),
          updated_at: now,
        },
        $unset: { error: 1 },
      },
      { session },
    )
    return isMatched(joined)
  },

  /** The ready files whose chunks are stored under these ids: each may have copies. */
  async listReady(assistantId: string, contentIds: string[]): Promise<FileRecord[]> {
    if (contentIds.length === 0) return []
    const ready = { assistant_id: assistantId, ...isReady }
    const found = await Promise.all([
      files.find({ _id: { $in: contentIds }, ...ready }).lean<FileRecord[]>(),
      files.find({ content_id: { $in: contentIds }, ...ready }).lean<FileRecord[]>(),
    ])
    return found.flat()
  },

  /** The ids under which the chunks of these files are stored. */
  async contentsOf(assistantId: string, fileIds: string[]): Promise<string[]> {
    const shared = await files
      .find({ _id: { $in: fileIds }, assistant_id: assistantId, content_id: { $exists: true } }, { content_id: 1 })
      .lean<Pick<FileRecord, '_id' | 'content_id'>[]>()
    const contentIds = new Map(shared.map((file) => [file._id, contentOf(file)]))
    return [...new Set(fileIds.map((id) => contentIds.get(id) ?? id))]
  },
})

/** Statements on a file that a worker reads and embeds. Each says from which state it goes on. */
export const ingestedFileStore = ({ files }: Files) => ({
  /** An ingestion tells the worker of the file. */
  findOwnerOfAny: async (id: string) =>
    files
      .findById(id, { user_id: 1, assistant_id: 1, status: 1 })
      .lean<Pick<FileRecord, '_id' | 'user_id' | 'assistant_id' | 'status'>>(),

  /** Null if it is not to be read any more. */
  begin: async ({ _id }: FileKey) =>
    files
      .findOneAndUpdate(
        { _id, ...isOpen },
        { $set: { status: 'processing', updated_at: new Date() } },
        { returnDocument: 'after' },
      )
      .lean<FileRecord>(),

  noteScans: async ({ _id }: FileKey) => files.updateOne({ _id }, { $set: { has_scans: true } }),

  /** The count makes chunks visible that are stored. False if the file was deleted in the meantime. */
  noteChunks: async (
    { _id }: FileKey,
    read: Pick<FileRecord, 'chunks' | 'characters'>,
    end: Partial<Pick<FileRecord, 'extracted' | 'content_type' | 'scan'>>,
  ) =>
    isMatched(
      await files.updateOne({ _id, ...isProcessing }, { $max: read, $set: { ...end, updated_at: new Date() } }),
    ),

  /** False if the file was deleted in the meantime. */
  noteEmbedded: async ({ _id }: FileKey, embedded: number) =>
    isMatched(
      await files.updateOne({ _id, ...isProcessing }, { $max: { embedded }, $set: { updated_at: new Date() } }),
    ),

  /** All its vectors are to be stored again. */
  forgetEmbedded: async ({ _id }: FileKey) => files.updateOne({ _id, ...isProcessing }, { $set: { embedded: 0 } }),

  /** Its vectors are complete in the space of this generation. */
  finish: async ({ _id }: FileKey, generation: number) =>
    files.updateOne(
      { _id, ...isProcessing },
      { $set: { ...isReady, generation, updated_at: new Date() }, $unset: { error: 1 } },
    ),

  /** Its assistant has taken another space meanwhile. */
  embedAgain: async ({ _id }: FileKey, generation: number) =>
    files.updateOne(
      { _id, $or: [isProcessing, { ...isReady, generation }] },
      { $set: { ...isProcessing, embedded: 0, updated_at: new Date() } },
    ),

  /** The file stays in the list with the reason, and becomes `failed` when its chunks and vectors are removed. */
  markFailing: async ({ _id }: FileKey, { error, retryable }: { error: string; retryable: boolean }) =>
    files.updateOne(
      { _id, ...isOpen },
      { $set: { status: 'failing', error: cutText(error, 500), retryable, updated_at: new Date() } },
    ),

  /** Its chunks and vectors are gone. */
  fail: async ({ _id }: FileKey) =>
    files.updateOne(
      { _id, status: 'failing' },
      { $set: { status: 'failed', chunks: 0, characters: 0, embedded: 0, updated_at: new Date() } },
    ),
})

/** Statements on the files of an assistant that are embedded anew, for the space of another generation. */
export const reembeddedFileStore = ({ files }: Files) => ({
  /** The ready files whose vectors are not all there, oldest first. */
  listMissing: async (assistantId: string, generation: number, most: number) =>
    files
      .find({ assistant_id: assistantId, ...isReady, chunks: { $gt: 0 }, generation: { $ne: generation } })
      .sort({ created_at: 1, order: 1, _id: 1 })
      .limit(most)
      .lean<FileRecord[]>(),

  /** False if the file was deleted in the meantime. */
  noteNext: async ({ _id }: FileKey, next: NonNullable<FileRecord['next']>) =>
    isMatched(await files.updateOne({ _id, ...isReady }, { $set: { next } })),

  /** The file and its copies are complete. False if it was deleted in the meantime. */
  async complete(file: FileRecord, generation: number): Promise<boolean> {
    const change = { $set: { generation }, $unset: { next: 1 } } as const
    if (!isMatched(await files.updateOne({ _id: file._id, ...isReady }, change))) return false
    const ready = { assistant_id: file.assistant_id, ...isReady }
    for (const users of Object.values(usersOf(contentOf(file)))) await files.updateMany({ ...ready, ...users }, change)
    return true
  },

  /** Of the ready files: how many there are, and how many are complete in the space of this generation. */
  async progress(assistantId: string, generation: number | undefined): Promise<ReembeddingProgress> {
    const isDone = { $eq: ['$generation', generation ?? -1] }
    const inPart = { $cond: [{ $eq: ['$next.generation', generation ?? -1] }, '$next.embedded', 0] }
    const [sums] = await files.aggregate<ReembeddingProgress>([
      { $match: { assistant_id: assistantId, ...isReady, chunks: { $gt: 0 } } },
      {
        $group: {
          // Copies share their chunks and vectors.
          _id: { $ifNull: ['$content_id', '$_id'] },
          files: { $sum: 1 },
          files_done: { $sum: { $cond: [isDone, 1, 0] } },
          chunks: { $max: '$chunks' },
          chunks_done: { $max: { $cond: [isDone, '$chunks', inPart] } },
        },
      },
      {
        $group: {
          _id: null,
          files: { $sum: '$files' },
          files_done: { $sum: '$files_done' },
          chunks: { $sum: '$chunks' },
          chunks_done: { $sum: '$chunks_done' },
        },
      },
      { $project: { _id: 0 } },
    ])
    return sums ?? { files: 0, files_done: 0, chunks: 0, chunks_done: 0 }
  },
})

interface ReembeddingProgress {
  files: number
  files_done: number
  chunks: number
  chunks_done: number
}

/** Statements on a file that is deleted with its entries in vector stores; the workflow that deletes it names it. */
export const deletedFileStore = ({ files }: Files) => ({
  /** Stops the ingestions of all of them. Read after this, because a file that is processed can become a copy until then. */
  async endIngestionsOfAny(id: string): Promise<{ record: FileRecord | null; entries: FileRecord[] }> {
    const ending = { $set: { status: 'failing', updated_at: new Date() } } as const
    const record = await files.findOneAndUpdate({ _id: id }, ending).lean<FileRecord>()
    await files.updateMany({ source_id: id }, ending)
    return { record, entries: await files.find({ source_id: id }).lean<FileRecord[]>() }
  },

  removeEntriesOfAny: async (id: string, entries: FileKey[]) =>
    files.deleteMany({ source_id: id, _id: { $in: entries.map(({ _id }) => _id) } }),

  countOfAny: async (id: string) => files.countDocuments({ $or: [{ _id: id }, { source_id: id }] }),
})

type OrphanCollections = Files & Pick<Collections, 'users' | 'assistants' | 'projects' | 'memories'>

/** Statements of the sweep, on files of all users and on what may own them. */
export const orphanStore = ({ files, users, assistants, projects, memories }: OrphanCollections) => ({
  async isOwnerOfAny(id: string): Promise<boolean> {
    const project = projectOf(id)
    if (project !== undefined) return (await projects.exists({ _id: project })) !== null
    return (await assistants.exists({ _id: id })) !== null
  },

  /** Whether there is the one whose memory this is. */
  async hasMemoryOwnerOfAny({ kind, id }: Pick<MemoryScope, 'kind' | 'id'>): Promise<boolean> {
    switch (kind) {
      case 'user':
        return (await users.exists({ _id: id })) !== null
      case 'project':
        return (await projects.exists({ _id: id })) !== null
      default:
        return (await assistants.exists({ _id: id })) !== null
    }
  },

  /** With whom a fact is shared; undefined if it is gone. */
  scopeOfAny: async (factId: string) =>
    (await memories.findById(factId, { scope: 1 }).lean<Pick<MemoryRecord, 'scope'>>())?.scope,

  ownersOfAny: async (before: Date) => files.distinct('assistant_id', { updated_at: { $lt: before } }),

  idsOwned: async (owner: string): Promise<string[]> =>
    idsOf(await files.find({ assistant_id: owner }, { _id: 1 }).lean()),

  /** Uploads whose process died. */
  abandonedIdsOfAny: async (before: Date): Promise<string[]> =>
    idsOf(await files.find({ status: 'uploading', updated_at: { $lt: before } }, { _id: 1 }).lean()),

  hasBlobOfAny: async (blobId: string) => (await files.exists({ blob_id: blobId })) !== null,

  listOfAny: async (ids: string[]) => files.find({ _id: { $in: ids } }).lean<FileRecord[]>(),

  /** Only as it was read: an upload that goes on, or ends at this moment, keeps its bytes. */
  removeUnchanged: async ({ _id, status, blob_id, updated_at }: FileRecord) =>
    isDeleted(await files.deleteOne({ _id, status, blob_id, updated_at })),
})

const idsOf = (records: { _id: string }[]) => records.map(({ _id }) => _id)
