import { Value } from 'typebox/value'
import type { DeletionResult } from '../../domain/contracts/deletion.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { objectFromJsonText, toJsonText } from '../../domain/json.ts'
import { Metadata } from '../../domain/metadata.ts'
import type { VectorStoreFacts, VectorStoreRecord } from '../../domain/records/assistant.ts'
import { openFileStatuses } from '../../domain/records/file.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { Collections } from '../collections.ts'
import { type PageQuery } from '../cursor-page.ts'
import { type Caller, holderOf } from '../owner.ts'
import type { Page } from '../page.ts'
import { lockProject } from '../parents.ts'
import { type StatusGroup, projectFileStore } from '../stores/files.ts'
import { vectorStoreStore } from '../stores/vector-stores.ts'
import type { RunInTransaction } from '../transactions.ts'

interface VectorStoresDeps {
  collections: Pick<Collections, 'users' | 'assistants' | 'files' | 'projects'>
  transaction: RunInTransaction
  configs: Pick<AssistantConfigs, 'fieldsOf'>
  deletions: { deleteVectorStore(userId: string, projectId: string, storeId: string): Promise<DeletionResult> }
}

export interface VectorStoreMembers {
  name?: string | null | undefined
  description?: string | undefined
  metadata?: Metadata | null | undefined
  /** Days after its last use; null: it stays. */
  expiresAfterDays?: number | null | undefined
}

export interface EntryCounts {
  in_progress: number
  completed: number
  failed: number
  cancelled: number
  total: number
}

/** A vector store and its entries. */
export interface VectorStoreView {
  record: VectorStoreRecord
  metadata: Metadata
  counts: EntryCounts
  bytes: number
}

export type VectorStores = ReturnType<typeof createVectorStores>

const dayMs = 86_400_000
/** Precision of `last_active_at`, so that not every search writes. */
const activityPrecisionMs = 60_000

/** The vector stores of a project (docs/decisions/2026-11-24-vector-stores.md). */
export function createVectorStores({ collections, transaction, configs, deletions }: VectorStoresDeps) {
  const stores = vectorStoreStore(collections)
  const toViews = (records: VectorStoreRecord[]) => viewsIn(collections, records)

  async function find({ projectId }: Caller, id: string): Promise<VectorStoreRecord> {
    const record = await stores.findOwned(projectId, id)
    if (record === null) throw missing(id)
    return record
  }

  async function toView(record: VectorStoreRecord): Promise<VectorStoreView> {
    const [view] = await toViews([record])
    if (view === undefined) throw missing(record._id)
    return view
  }

  return {
    /** Throws `not_found` for a vector store of another project. */
    find,

    async create(caller: Caller, members: VectorStoreMembers, id: string = newId()): Promise<VectorStoreRecord> {
      const now = new Date()
      const { userId, makerId } = holderOf(caller)
      const record: VectorStoreRecord = {
        _id: id,
        user_id: userId,
        ...(makerId === undefined ? {} : { created_by: makerId }),
        project_id: caller.projectId,
        kind: 'vector_store',
        store: {
          ...(members.description === undefined ? {} : { description: members.description }),
          metadata_json: toJsonText(members.metadata ?? {}),
          last_active_at: now,
          ...expiryOf(members.expiresAfterDays, now),
        },
        name: members.name ?? '',
        public: false,
        ...configs.fieldsOf(id, '{}'),
        has_files: false,
        created_at: now,
        updated_at: now,
      }
      await transaction(async (session) => {
        await lockProject(collections, caller, session)
        await stores.add(record, session)
      })
      return record
    },

    read: async (caller: Caller, id: string): Promise<VectorStoreView> => toView(await find(caller, id)),

    /** Changes the given members; null empties one. */
    async update(
      { projectId }: Caller,
      id: string,
      { name, metadata, expiresAfterDays: days }: VectorStoreMembers,
    ): Promise<VectorStoreView> {
      const now = new Date()
      const expiry = expiryOf(days, now)
      const change = {
        $set: {
          ...(name === undefined ? {} : { name: name ?? '' }),
          ...(metadata === undefined ? {} : { 'store.metadata_json': toJsonText(metadata ?? {}) }),
          ...Object.fromEntries(Object.entries(expiry).map(([key, value]) => [`store.${key}`, value])),
          'store.last_active_at': now,
          updated_at: now,
        },
        ...(days === null ? { $unset: { 'store.expires_after_days': 1, 'store.expires_at': 1 } } : {}),
      }
      const record = await stores.changeOwned(projectId, id, change)
      if (record === null) throw missing(id)
      return toView(record)
    },

    async page({ projectId }: Caller, query: PageQuery): Promise<Page<VectorStoreView>> {
      const { entries, hasMore } = await stores.page(projectId, query)
      return { entries: await toViews(entries), hasMore }
    },

    remove: (caller: Caller, id: string): Promise<DeletionResult> =>
      deletions.deleteVectorStore(holderOf(caller).userId, caller.projectId, id),

    noteActivity: (record: VectorStoreRecord): Promise<void> => noteActivity(collections, record),
  }
}

/** A vector store that expires some days after its last use stays for as long again. */
export async function noteActivity(
  collections: Pick<Collections, 'assistants'>,
  { _id, store }: Pick<VectorStoreRecord, '_id' | 'store'>,
): Promise<void> {
  const now = new Date()
  if (now.getTime() - store.last_active_at.getTime() < activityPrecisionMs) return
  const { expires_after_days: days } = store
  const expiresAt = days === undefined ? undefined : new Date(now.getTime() + days * dayMs)
  // A change of the days in the meantime is a use, too.
  await vectorStoreStore(collections).noteActivity({ _id, store }, now, expiresAt)
}

function expiryOf(
  days: number | null | undefined,
  now: Date,
): Pick<VectorStoreFacts, 'expires_after_days' | 'expires_at'> {
  if (days === undefined || days === null) return {}
  return { expires_after_days: days, expires_at: new Date(now.getTime() + days * dayMs) }
}

/** Throws `bad_request` for a vector store whose time is over and which will be deleted soon. */
export function requireUnexpired(record: Pick<VectorStoreRecord, '_id' | 'store'>): void {
  if (isExpired(record)) throw new AppError('bad_request', `The vector store ${record._id} has expired.`)
}

export function isExpired({ store }: Pick<VectorStoreRecord, 'store'>): boolean {
  return store.expires_at !== undefined && store.expires_at.getTime() <= Date.now()
}

/** Each with its metadata, and the sums of its entries. */
async function viewsIn(
  collections: Pick<Collections, 'files'>,
  records: VectorStoreRecord[],
): Promise<VectorStoreView[]> {
  const groups = await projectFileStore(collections).sumByStatus(records.map(({ _id }) => _id))
  return records.map((record) => {
    const own = groups.filter(({ _id }) => _id.owner === record._id)
    const metadata: unknown = objectFromJsonText(record.store.metadata_json)
    return {
      record,
      metadata: Value.Check(Metadata, metadata) ? metadata : {},
      counts: countsOf(own),
      bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
    }
  })
}

export function countsOf(groups: StatusGroup[]): EntryCounts {
  const counts: EntryCounts = { in_progress: 0, completed: 0, failed: 0, cancelled: 0, total: 0 }
  for (const { _id, count } of groups) {
    counts[entryStatusOf(_id)] += count
    counts.total += count
  }
  return counts
}

/** The state of an entry as its callers know it. */
export function entryStatusOf({ status, cancelled }: { status: string; cancelled?: boolean | undefined }) {
  if (cancelled) return 'cancelled'
  if (status === 'ready') return 'completed'
  return status === 'failing' || openFileStatuses.some((open) => open === status) ? 'in_progress' : 'failed'
}

function missing(id: string): AppError {
  return new AppError('not_found', `There is no vector store ${id}.`)
}
