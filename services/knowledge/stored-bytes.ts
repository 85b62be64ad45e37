import { LRUCache } from 'lru-cache'
import type { Collections } from '../collections.ts'
import { attachmentStore } from '../stores/attachments.ts'
import { projectFileStore } from '../stores/files.ts'
import { threadStore } from '../stores/threads.ts'

export type StoredBytesCollections = Pick<Collections, 'files' | 'threads' | 'attachments'>

/** Sums for runs, and the sum over threads, are read once in this time; what runs add meanwhile is added to them. */
const cachedForMs = 10_000

/**
 * What a user stores: files, what is announced for open uploads, images and files of messages, and the messages of
 * threads that take no place of the thread quota (stored completions, responses, public callers).
 */
export function createStoredBytes(collections: StoredBytesCollections) {
  const files = projectFileStore(collections)

  // Who asks while a sum is read waits for the same.
  const shared = (read: (userId: string) => Promise<number>) =>
    new LRUCache<string, { bytes: number }>({
      max: 10_000,
      ttl: cachedForMs,
      ignoreFetchAbort: true,
      fetchMethod: async (userId) => ({ bytes: await read(userId) }),
    })
  const saidOf = shared(said)
  const totalOf = shared(exact)

  async function said(userId: string): Promise<number> {
    const [logs, shown] = await Promise.all([
      threadStore(collections).sumUncountedBytes(userId),
      attachmentStore(collections).sumBytes(userId),
    ])
    return logs + shown
  }

  /** What is announced for the open uploads of a user and has not arrived yet. */
  async function announced(userId: string, exceptId: string | undefined): Promise<number> {
    const open = (await files.listOpenUploads(userId)).filter(({ _id }) => _id !== exceptId)
    if (open.length === 0) return 0
    const arrived = await files.sumParts(
      userId,
      open.map(({ _id }) => _id),
    )
    return open.reduce((sum, { _id, upload }) => sum + Math.max(0, (upload?.bytes ?? 0) - (arrived.get(_id) ?? 0)), 0)
  }

  async function exact(userId: string, exceptUpload?: string): Promise<number> {
    const [stored, open, { bytes: ofRuns }] = await Promise.all([
      files.sumBytes(userId),
      announced(userId, exceptUpload),
      saidOf.forceFetch(userId),
    ])
    return stored + open + ofRuns
  }

  return {
    /** Exact in files and uploads. */
    of: exact,

    /**
     * Adds what a run stores, if there is room. Many runs may begin at once, so files of the last seconds may be missing
     * here.
     */
    async addForRun(userId: string, bytes: number, max: number): Promise<boolean> {
      const total = await totalOf.forceFetch(userId)
      if (total.bytes + bytes > max) return false
      total.bytes += bytes
      const ofRuns = saidOf.get(userId)
      if (ofRuns !== undefined) ofRuns.bytes += bytes
      return true
    },
  }
}
