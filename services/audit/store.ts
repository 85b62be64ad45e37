import type { AuditEntryRecord } from '../../domain/records/audit-entry.ts'
import type { Collections } from '../collections.ts'
import { isNew } from '../duplicate-key.ts'
import { type Page, readPage } from '../page.ts'

/** Absent members select the entries of all users, all actions and all times: that is for operators. */
interface AuditFilter {
  userId?: string | undefined
  /** What was done in it by those who use it. */
  projectId?: string | undefined
  actions?: string[] | undefined
  /** The id of an entry: only the entries before it. */
  before?: string | undefined
}

/** All statements on `audit_entries`. */
export const auditStore = ({ auditEntries }: Pick<Collections, 'auditEntries'>) => ({
  /** False if there is an entry of the same key, which counts it. */
  async addOrCount(entry: AuditEntryRecord): Promise<boolean> {
    if (await isNew(auditEntries.create(entry))) return true
    await auditEntries.updateOne({ key: entry.key }, { $inc: { count: 1 }, $set: { last_at: entry.last_at } })
    return false
  },

  remove: async ({ _id }: AuditEntryRecord) => auditEntries.deleteOne({ _id }),

  /** Newest first. */
  list({ userId, projectId, actions, before }: AuditFilter, limit: number): Promise<Page<AuditEntryRecord>> {
    const filter = {
      ...(userId === undefined ? {} : { user_id: userId }),
      ...(projectId === undefined ? {} : { project_id: projectId, outcome: 'done' as const, actor: 'user' as const }),
      ...(actions === undefined ? {} : { action: { $in: actions } }),
      ...(before === undefined ? {} : { _id: { $lt: before } }),
    }
    const query = auditEntries.find(filter).sort({ _id: -1 }).lean<AuditEntryRecord>()
    return readPage(query, { limit, offset: 0 }, (entry) => Buffer.byteLength(JSON.stringify(entry)))
  },

  /** Removes all of a user but the newest. */
  async trimOwned(userId: string, retained: number): Promise<void> {
    const [last] = await auditEntries
      .find({ user_id: userId }, { _id: 1 })
      .sort({ _id: -1 })
      .skip(retained)
      .limit(1)
      .lean()
    if (last !== undefined) await auditEntries.deleteMany({ user_id: userId, _id: { $lte: last._id } })
  },
})
