import { createHash } from 'node:crypto'
import { normalizeEmail } from '../../domain/email-address.ts'
import { newId } from '../../domain/ids.ts'
import type { AuditEntryRecord } from '../../domain/records/audit-entry.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { type Page, readPage } from '../page.ts'
import { namesOf } from './names.ts'

export type AuditedAct = Pick<AuditEntryRecord, 'actor' | 'action' | 'outcome' | 'subjects'> & {
  userId?: string | undefined
  client?: string | undefined
  userAgent?: string | undefined
}

interface AuditDeps {
  collections: Pick<Collections, 'auditEntries' | 'users' | 'projects' | 'assistants' | 'threads' | 'files'>
  keepDays: number
  /** Maximum number of entries of one user; the oldest are removed first. */
  maxOfUser?: number
}

const minuteMs = 60_000
/**
 * Identical actions within this time become one entry. The time is longer for refused ones, because anybody can
 * cause many of them.
 */
const together = { done: minuteMs, refused: 60 * minuteMs }
const userAgentLength = 200
/** Surplus entries of a user are removed once in this many new entries. */
const trimEvery = 50

interface AuditFilter {
  userId?: string | undefined
  actions?: string[] | undefined
  /** The id of an entry: only the entries before it. */
  before?: string | undefined
}

export type Audit = ReturnType<typeof createAudit>

/** Who did what, when and from where. */
export function createAudit({ collections, keepDays, maxOfUser = 10_000 }: AuditDeps) {
  const { auditEntries, users } = collections
  let written = 0

  return {
    async record({ userId, client, userAgent, ...act }: AuditedAct): Promise<void> {
      const now = new Date()
      const agent = cleanText(userAgent)
      const period = Math.floor(now.getTime() / together[act.outcome])
      const parts = [act.actor, act.action, act.outcome, userId, client, agent, period, ...act.subjects]
      const key = createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
      const entry: AuditEntryRecord = {
        _id: newId(),
        key,
        ...act,
        ...(userId === undefined ? {} : { user_id: userId }),
        ...(client === undefined ? {} : { client }),
        ...(agent === undefined ? {} : { user_agent: agent }),
        count: 1,
        created_at: now,
        last_at: now,
        remove_at: new Date(now.getTime() + keepDays * 24 * 60 * minuteMs),
      }
      try {
        await auditEntries.create(entry)
      } catch (error) {
        if (!isDuplicateKey(error)) throw error
        await auditEntries.updateOne({ key }, { $inc: { count: 1 }, $set: { last_at: now } })
        return
      }
      if (userId === undefined) return
      // Stored first, checked afterwards: a deletion that begins later finds the entry.
      const isThere = await users.exists({ _id: userId, deleting: { $ne: true } })
      if (isThere === null) await auditEntries.deleteOne({ _id: entry._id })
      else if (++written % trimEvery === 0) await trim(userId)
    },

    /** The account with this e-mail address, for which a refused login is recorded. */
    async userOf(email: string): Promise<string | undefined> {
      return (await users.findOne({ email: normalizeEmail(email) }, { _id: 1 }).lean())?._id
    },

    /** Names by id of what the entries are about; with `userId`, only what belongs to this user. */
    namesOf: (entries: AuditEntryRecord[], userId?: string) => namesOf(collections, entries, userId),

    /** Newest first; for one user, or for all. */
    list({ userId, actions, before }: AuditFilter, limit: number): Promise<Page<AuditEntryRecord>> {
      const filter = {
        ...(userId === undefined ? {} : { user_id: userId }),
        ...(actions === undefined ? {} : { action: { $in: actions } }),
        ...(before === undefined ? {} : { _id: { $lt: before } }),
      }
      const query = auditEntries.find(filter).sort({ _id: -1 }).lean<AuditEntryRecord>()
      return readPage(query, { limit, offset: 0 }, (entry) => Buffer.byteLength(JSON.stringify(entry)))
    },
  }

  async function trim(userId: string): Promise<void> {
    const [last] = await auditEntries
      .find({ user_id: userId }, { _id: 1 })
      .sort({ _id: -1 })
      .skip(maxOfUser)
      .limit(1)
      .lean()
    if (last !== undefined) await auditEntries.deleteMany({ user_id: userId, _id: { $lte: last._id } })
  }
}

/** The `User-Agent` of a client, without control characters and shortened. */
function cleanText(text: string | undefined): string | undefined {
  return text?.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, userAgentLength)
}
