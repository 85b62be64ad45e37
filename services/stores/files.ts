import type { ClientSession } from 'mongoose'
import { hasOwnBytes } from '../../domain/knowledge/project-files.ts'
import { type FileRecord, isUploaded, openFileStatuses, unprocessed } from '../../domain/records/file.ts'
import type { Collections } from '../collections.ts'
import { type PageQuery, storedPage } from '../cursor-page.ts'
import { isNew } from '../duplicate-key.ts'
import { type Page, type PageRange, readPage } from '../page.ts'
import { type Named, namesIn } from './named.ts'
import { isDeleted, isMatched } from './results.ts'

/** A record of a file in a vector store. */
export type EntryRecord = FileRecord & { source_id: string }

type FileState = Pick<FileRecord, '_id' | 'status' | 'error'>
type Stored = Pick<FileRecord, '_id' | 'blob_id'>
type FileKey = Pick<FileRecord, '_id'>
const progressMembers = { status: 1, chunks: 1, extracted: 1, embedded: 1 } as const
export type FileProgress = Pick<FileRecord, keyof typeof progressMembers>

/** The bytes have arrived. */
const arrived = { status: { $ne: 'uploading' as const } }
const visible = { ...arrived, ...isUploaded }
const isReady = { status: 'ready' as const, chunks: { $gt: 0 } }
const isOpen = { status: { $in: [...openFileStatuses] } }
const inOrder = { created_at: 1, order: 1, _id: 1 } as const
const recordBytes = { file: 3000, entry: 12_000 }

const notExpired = () => ({ $or: [{ expires_at: { $exists: false } }, { expires_at: { $gt: new Date() } }] })
const ofProject = (owner: string) => ({ assistant_id: owner, ...arrived, ...notExpired() })
/** The parts of an upload, among the files. */
export const partsOf = (uploadId: string) => ({ ingestion_id: `upload:${uploadId}` })

const entryStatuses = {
  in_progress: {
    status: { $in: ['queued', 'processing', 'failing'] as FileRecord['status'][] },
    cancelled: { $ne: true },
  },
  completed: { status: 'ready' as const },
  failed: { status: 'failed' as const, cancelled: { $ne: true } },
  cancelled: { cancelled: true },
}
type EntryStatus = keyof typeof entryStatuses

/** How many entries have a status. */
export interface StatusGroup {
  _id: { status: string; cancelled?: boolean }
  count: number
}

/** What an answer may hold of a file, in bytes. */
const fileBytes = (file: FileRecord) => Buffer.byteLength(JSON.stringify(file))

/** Statements on `files`. A file belongs to an assistant, a vector store or a project: `owner` is its `assistant_id`. */
export const fileStore = ({ files }: Pick<Collections, 'files'>) => ({
  /** Without a user: for operators. */
  namesOf: (ids: string[], userId: string | undefined): Promise<Named[]> => namesIn(files, ids, userId),

  namesOwned: async (userId: string, owners: string[], ids: string[]) =>
    files.find({ _id: { $in: ids }, user_id: userId, assistant_id: { $in: owners } }, { name: 1 }).lean<Named[]>(),

  /** One that was uploaded. */
  findOwned: async (owner: string, id: string) =>
    files.findOne({ _id: id, assistant_id: owner, ...visible }).lean<FileRecord>(),

  /** Also one that was read from the web. */
  findReadOwned: async (owner: string, id: string) =>
    files.findOne({ _id: id, assistant_id: owner, ...arrived }).lean<FileRecord>(),

  /** Oldest first. */
  listOwned: (owner: string, range: PageRange): Promise<Page<FileRecord>> =>
    readPage(
      files
        .find({ assistant_id: owner, ...visible })
        .sort(inOrder)
        .lean<FileRecord>(),
      range,
      fileBytes,
    ),

  /** Of an upload, in its order. */
  listOfIngestion: (ingestionId: string, range: PageRange): Promise<Page<FileRecord>> =>
    readPage(
      files
        .find({ ingestion_id: ingestionId, ...visible })
        .sort({ order: 1, _id: 1 })
        .lean<FileRecord>(),
      range,
      fileBytes,
    ),

  /** How far each is, one by one. */
  openProgress: (owner: string, ingestionId: string) =>
    files
      .find({ ingestion_id: ingestionId, assistant_id: owner, ...visible }, progressMembers)
      .lean<FileProgress>()
      .cursor(),

  hasIngestion: async (owner: string, ingestionId: string) =>
    (await files.exists({ ingestion_id: ingestionId, assistant_id: owner, ...visible })) !== null,

  /** Those of an earlier upload, one by one in its order; undefined if it did not begin. */
  async openBegun(owner: string, ingestionId: string) {
    const begun = { assistant_id: owner, ingestion_id: ingestionId, ...arrived }
    if ((await files.exists(begun)) === null) return undefined
    return files.find(begun).sort({ order: 1 }).lean<FileRecord>().cursor()
  },

  /** What a file of an assistant says of its files, oldest first. */
  listSources: async (owner: string, most: number) =>
    files
      .find({ assistant_id: owner, status: { $nin: ['uploading', 'failed'] } }, { name: 1, sha256: 1, size: 1 })
      .sort(inOrder)
      .limit(most)
      .lean<Pick<FileRecord, 'name' | 'sha256' | 'size'>[]>(),

  countReady: async (owner: string) => files.countDocuments({ assistant_id: owner, status: 'ready' }),

  hasReady: async (owner: string) => (await files.exists({ assistant_id: owner, ...isReady })) !== null,

  /** Those that can be searched, the newest first; `orOpen`: or soon. */
  listSearched: async (owner: string, most: number, { orOpen = false } = {}) =>
    files
      .find({ assistant_id: owner, ...(orOpen ? { $or: [isReady, isOpen] } : isReady) }, { name: 1, web: 1 })
      .sort({ created_at: -1, order: -1, _id: -1 })
      .limit(most)
      .lean<Pick<FileRecord, '_id' | 'name' | 'web'>[]>(),

  /** Those of a name that can be read, the newest first; `ids`: only of these. */
  listNamed: async (owner: string, name: string, most: number, ids?: string[]) =>
    files
      .find({ assistant_id: owner, name, ...isReady, ...(ids === undefined ? {} : { _id: { $in: ids } }) })
      .sort({ created_at: -1, order: -1, _id: -1 })
      .limit(most)
      .lean<FileRecord[]>(),

  hasOpen: async (owners: string[]) => (await files.exists({ assistant_id: { $in: owners }, ...isOpen })) !== null,

  /** Of these, those that can be searched. */
  listReady: async (owner: string, ids: string[]) =>
    files.find({ _id: { $in: ids }, assistant_id: owner, status: 'ready' }).lean<FileRecord[]>(),

  /** What can be filtered by, one by one. */
  openReadyAttributes: (owner: string) =>
    files
      .find({ assistant_id: owner, status: 'ready' }, { attributes_json: 1 })
      .lean<Pick<FileRecord, '_id' | 'attributes_json'>>()
      .cursor(),

  /** For workers, which an ingestion tells of a file. */
  findOfAny: async (id: string) => files.findById(id).lean<FileRecord>(),

  existsOfAny: async (id: string) => (await files.exists({ _id: id })) !== null,

  /** For a worker that reads it. */
  isWantedOfAny: async (id: string) =>
    (await files.exists({ _id: id, status: { $nin: ['failing', 'failed'] } })) !== null,

  /** For a worker, which made the ids. */
  statesOfAny: async (ids: string[]) =>
    files.find({ _id: { $in: ids } }, { status: 1, error: 1, retryable: 1 }).lean<FileState[]>(),

  /** Whose bytes have arrived, in their order. */
  async listArrived(ingestionId: string): Promise<string[]> {
    const found = await files
      .find({ ingestion_id: ingestionId, ...arrived }, { _id: 1 })
      .sort({ order: 1 })
      .lean<{ _id: string }[]>()
    return found.map(({ _id }) => _id)
  },

  add: async (file: FileRecord) => files.create([file]),

  /** Its bytes have arrived. False if it was removed meanwhile. */
  queue: async ({ _id }: FileRecord) =>
    isMatched(await files.updateOne({ _id, status: 'uploading' }, { $set: { status: 'queued' } })),

  queueAll: async (ids: string[]) =>
    files.updateMany(
      { _id: { $in: ids }, status: 'uploading' },
      { $set: { status: 'queued', updated_at: new Date() } },
    ),

  queueIngestion: async (ingestionId: string) =>
    files.updateMany(
      { ingestion_id: ingestionId, status: 'uploading' },
      { $set: { status: 'queued', updated_at: new Date() } },
    ),

  /** Tells the sweep of abandoned uploads that these are slow, not dead. */
  keepAlive: async (ids: string[]) =>
    files.updateMany({ _id: { $in: ids }, status: 'uploading' }, { $set: { updated_at: new Date() } }),

  /** False if it was removed meanwhile. */
  noteContent: async ({ _id }: FileKey, { size, sha256 }: Pick<FileRecord, 'size' | 'sha256'>) =>
    isMatched(await files.updateOne({ _id }, { $set: { size, sha256 } })),

  /** Of a project: shows it. */
  show: async ({ _id }: FileKey, members: Partial<FileRecord>) =>
    files.updateOne({ _id }, { $set: { ...members, status: 'ready', extracted: true, updated_at: new Date() } }),

  /** Steps of its ingestion stop. */
  markFailing: async ({ _id }: FileKey) =>
    files.updateOne({ _id }, { $set: { status: 'failing', updated_at: new Date() } }),

  /** Marks a failed file as waiting to be processed; at most once for each number. */
  reopenOfAny: async (_id: string, number: number) =>
    files.updateOne(
      { _id, status: 'failed', retries: number === 1 ? { $in: [null, 0] } : number - 1 },
      {
        $set: { status: 'queued', retries: number, ...unprocessed },
        $unset: { error: 1, retryable: 1 },
        $currentDate: { updated_at: true },
      },
    ),

  remove: async ({ _id }: FileKey) => files.deleteOne({ _id }),

  /** Removes one whose bytes have not arrived; false if they have. */
  removeUnseen: async ({ _id }: FileKey) => isDeleted(await files.deleteOne({ _id, status: 'uploading' })),

  removeAllUnseen: async (ids: string[]) => files.deleteMany({ _id: { $in: ids }, status: 'uploading' }),

  removeOwned: async (owner: string): Promise<void> => {
    await files.deleteMany({ assistant_id: owner })
  },

  countOwned: async (owner: string) => files.countDocuments({ assistant_id: owner }),

  async sumChunks(owner: string): Promise<number> {
    const [counted] = await files.aggregate<{ chunks: number }>([
      { $match: { assistant_id: owner } },
      { $group: { _id: null, chunks: { $sum: '$chunks' } } },
    ])
    return counted?.chunks ?? 0
  },

  // Of sources of the web.

  countOfSource: async (sourceId: string) => files.countDocuments({ 'web.source_id': sourceId }),

  async sumOfSource(sourceId: string): Promise<{ files: number; chunks: number; vectors: number }> {
    const [sum] = await files.aggregate<{ files: number; chunks: number; vectors: number }>([
      { $match: { 'web.source_id': sourceId } },
      { $group: { _id: null, files: { $sum: 1 }, chunks: { $sum: '$chunks' }, vectors: { $sum: '$embedded' } } },
    ])
    return { files: sum?.files ?? 0, chunks: sum?.chunks ?? 0, vectors: sum?.vectors ?? 0 }
  },

  /** By id. */
  listOfSource: async (sourceId: string, after: string, most: number) =>
    files
      .find({ 'web.source_id': sourceId, _id: { $gt: after } })
      .sort({ _id: 1 })
      .limit(most)
      .lean<FileRecord[]>(),
})

/** Statements on files of projects, their uploads in parts, and their entries in vector stores. */
export const projectFileStore = ({ files }: Pick<Collections, 'files'>) => ({
  find: async (owner: string, id: string) => files.findOne({ _id: id, ...ofProject(owner) }).lean<FileRecord>(),

  page: (owner: string, query: PageQuery & { purpose?: string | undefined }): Promise<Page<FileRecord>> => {
    const own = { ...ofProject(owner), ...(query.purpose === undefined ? {} : { purpose: query.purpose }) }
    return storedPage(query, {
      find: async (id) => files.findOne({ _id: id, ...own }, { created_at: 1 }).lean<FileRecord>(),
      read: (range, sort) =>
        files
          .find({ ...own, ...range })
          .sort(sort)
          .lean<FileRecord>(),
      bytesOf: () => recordBytes.file,
    })
  },

  hasReady: async (owner: string, id: string) =>
    (await files.exists({ _id: id, assistant_id: owner, status: 'ready' })) !== null,

  countAll: async (ids: string[]) => files.countDocuments({ _id: { $in: ids } }),

  /** Says that it still arrives. */
  keepAlive: async ({ _id }: FileKey) =>
    files.updateOne({ _id, status: 'uploading' }, { $set: { updated_at: new Date() } }),

  // Uploads in parts.

  findUpload: async (owner: string, id: string) =>
    files.findOne({ _id: id, assistant_id: owner, upload: { $exists: true } }).lean<FileRecord>(),

  listParts: async (uploadId: string) => files.find(partsOf(uploadId)).lean<FileRecord[]>(),

  notePart: async ({ _id }: FileKey) => files.updateOne({ _id }, { $set: { extracted: true } }),

  /** Takes an upload to make the file of its parts, unless another request does: as it was before. */
  claim: (_id: string, blobId: string, staleMs: number): Promise<FileRecord | null> => {
    const now = new Date()
    const isFree = {
      $or: [
        { 'upload.claimed_at': { $exists: false } },
        { 'upload.claimed_at': { $lt: new Date(now.getTime() - staleMs) } },
      ],
    }
    return files
      .findOneAndUpdate(
        { _id, status: 'uploading', ...isFree },
        { $set: { blob_id: blobId, 'upload.claimed_at': now, updated_at: now } },
      )
      .lean<FileRecord>()
      .exec()
  },

  async keepClaim({ _id, blob_id }: Stored): Promise<void> {
    const now = new Date()
    await files.updateOne(
      { _id, status: 'uploading', blob_id },
      { $set: { 'upload.claimed_at': now, updated_at: now } },
    )
  },

  /** False if the claim is lost, or the file is shown. */
  async releaseClaim({ _id, blob_id }: Stored): Promise<boolean> {
    const change = { $unset: { 'upload.claimed_at': 1 as const } }
    return (await files.updateOne({ _id, status: 'uploading', blob_id }, change)).matchedCount > 0
  },

  /** Shows the file of a claimed upload, and forgets its parts. False if one of them is gone. */
  async showUpload(
    { _id, blob_id }: Stored,
    $set: Partial<FileRecord>,
    parts: FileRecord[],
    session: ClientSession,
  ): Promise<boolean> {
    const { matchedCount } = await files.updateOne(
      { _id, status: 'uploading', blob_id },
      { $set, $unset: { 'upload.claimed_at': 1, ...($set.expires_at === undefined ? { expires_at: 1 } : {}) } },
      { session },
    )
    if (matchedCount === 0) return false
    const { deletedCount } = await files.deleteMany({ _id: { $in: parts.map((part) => part._id) } }, { session })
    return deletedCount === parts.length
  },

  /** False if it is being completed. */
  cancelUpload: async ({ _id, blob_id }: Stored) =>
    isDeleted(await files.deleteOne({ _id, status: 'uploading', blob_id })),

  // What a user stores.

  async sumBytes(userId: string): Promise<number> {
    const [sum] = await files.aggregate<{ bytes: number }>([
      { $match: { user_id: userId, ...hasOwnBytes } },
      { $group: { _id: null, bytes: { $sum: '$size' } } },
    ])
    return sum?.bytes ?? 0
  },

  listOpenUploads: async (userId: string) =>
    files
      .find(
        { user_id: userId, upload: { $exists: true }, status: 'uploading', expires_at: { $gt: new Date() } },
        { upload: 1 },
      )
      .lean<Pick<FileRecord, '_id' | 'upload'>[]>(),

  /** The bytes of the parts that have arrived, by upload. */
  async sumParts(userId: string, uploadIds: string[]): Promise<Map<string, number>> {
    const names = new Map(uploadIds.map((id) => [partsOf(id).ingestion_id, id]))
    const sums = await files.aggregate<{ _id: string; bytes: number }>([
      { $match: { user_id: userId, ingestion_id: { $in: [...names.keys()] } } },
      { $group: { _id: '$ingestion_id', bytes: { $sum: '$size' } } },
    ])
    return new Map(sums.map(({ _id, bytes }) => [names.get(_id) ?? '', bytes]))
  },

  // Entries of vector stores.

  findEntry: async (storeId: string, sourceId: string) =>
    files.findOne({ source_id: sourceId, assistant_id: storeId, ...arrived }).lean<EntryRecord>(),

  /**
   * The files of the project in this vector store that are in no other one, and that one of these has uploaded: null is
   * whoever holds the project.
   */
  sourcesOnlyIn: async (storeId: string, uploaders: (string | null)[], most: number): Promise<string[]> => {
    const inStore = await files
      .find({ assistant_id: storeId, source_id: { $exists: true } }, { source_id: 1 })
      .limit(most)
      .lean<Pick<EntryRecord, 'source_id'>[]>()
    const ids = inStore.map(({ source_id: id }) => id)
    const elsewhere = await files.distinct('source_id', { source_id: { $in: ids }, assistant_id: { $ne: storeId } })
    const own = await files.distinct('_id', { _id: { $in: ids }, created_by: { $in: uploaders } })
    return own.filter((id) => !elsewhere.includes(id))
  },

  pageEntries(
    storeId: string,
    { status, ids, ...query }: PageQuery & { status?: EntryStatus | undefined; ids?: string[] | undefined },
  ): Promise<Page<EntryRecord>> {
    const own = {
      assistant_id: storeId,
      ...arrived,
      ...(ids === undefined ? {} : { _id: { $in: ids } }),
      ...(status === undefined ? {} : entryStatuses[status]),
    }
    return storedPage(query, {
      find: async (id) => files.findOne({ source_id: id, assistant_id: storeId }, { created_at: 1 }).lean<FileRecord>(),
      read: (range, sort) =>
        files
          .find({ ...own, ...range })
          .sort(sort)
          .lean<EntryRecord>(),
      bytesOf: () => recordBytes.entry,
    })
  },

  listEntries: async (storeId: string, sourceIds: string[]) =>
    files.find({ assistant_id: storeId, source_id: { $in: sourceIds } }).lean<EntryRecord[]>(),

  /** False if the store has the file already. One that failed is replaced: its chunks and vectors are gone. */
  async addEntry(entry: EntryRecord): Promise<boolean> {
    await files.deleteOne({ assistant_id: entry.assistant_id, source_id: entry.source_id, status: 'failed' })
    return isNew(files.create([entry]))
  },

  async idOfEntry(storeId: string, sourceId: string): Promise<string | undefined> {
    return (await files.findOne({ assistant_id: storeId, source_id: sourceId }, { _id: 1 }).lean())?._id
  },

  setAttributes: async (storeId: string, sourceId: string, attributesJson: string) =>
    files.updateOne(
      { assistant_id: storeId, source_id: sourceId },
      { $set: { attributes_json: attributesJson, updated_at: new Date() } },
    ),

  countByStatus: async (storeId: string, ids: string[]) =>
    files.aggregate<StatusGroup>([
      { $match: { _id: { $in: ids }, assistant_id: storeId, ...arrived } },
      { $group: { _id: { status: '$status', cancelled: '$cancelled' }, count: { $sum: 1 } } },
    ]),

  /** The same with their bytes, for several stores. */
  sumByStatus: async (storeIds: string[]) =>
    files.aggregate<EntryGroup>([
      { $match: { assistant_id: { $in: storeIds }, ...arrived } },
      {
        $group: {
          _id: { owner: '$assistant_id', status: '$status', cancelled: '$cancelled' },
          count: { $sum: 1 },
          bytes: { $sum: '$size' },
        },
      },
    ]),

  hasOpenEntries: async (storeId: string, ids: string[]) =>
    (await files.exists({ _id: { $in: ids }, assistant_id: storeId, status: { $in: ['queued', 'processing'] } })) !==
    null,

  /** Ends the processing of those that are not done; their steps find that. */
  async cancelEntries(storeId: string, ids: string[], now: Date): Promise<void> {
    const change = { cancelled: true, error: 'The batch was cancelled.', retryable: false, updated_at: now }
    await files.updateMany(
      { _id: { $in: ids }, assistant_id: storeId, status: { $in: ['queued', 'processing'] } },
      { $set: { status: 'failing', ...change } },
    )
  },
})

interface EntryGroup extends StatusGroup {
  _id: StatusGroup['_id'] & { owner: string }
  bytes: number
}

/** Statements of the retention on `files`: it looks for those whose time is over. */
export const expiredFileStore = ({ files }: Pick<Collections, 'files'>) => ({
  unfinishedOfAny: async (now: Date, most: number) =>
    files
      .find({ expires_at: { $lt: now }, status: 'uploading' }, { blob_id: 1 })
      .limit(most)
      .lean<Stored[]>(),

  removeUnfinished: async ({ _id, blob_id }: Stored) =>
    isDeleted(await files.deleteOne({ _id, blob_id, status: 'uploading' })),

  expiredOfAny: async (now: Date, most: number) =>
    files
      .find({ expires_at: { $lt: now }, ...arrived })
      .limit(most)
      .lean<FileRecord[]>(),
})
