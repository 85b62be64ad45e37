import { LRUCache } from 'lru-cache'
import { hasOwnBytes } from '../../domain/knowledge/project-files.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { Collections } from '../collections.ts'

export type StoredBytesCollections = Pick<Collections, 'files' | 'threads' | 'attachments'>

/** Sums for runs, and the sum over threads, are read once in this time; what runs add meanwhile is added to them. */
const keptForMs = 10_000

/**
 * What a user stores: files, what is announced for open uploads, images and files of messages, and the messages of
 * threads that take no place of the thread quota (stored completions, responses, public callers).
 */
export function createStoredBytes({ files, threads, attachments }: StoredBytesCollections) {
  // Who asks while a sum is read waits for the same.
  const shared = (read: (userId: string) => Promise<number>) =>
    new LRUCache<string, { bytes: number }>({
      max: 10_000,
      ttl: keptForMs,
      ignoreFetchAbort: true,
      fetchMethod: async (userId) => ({ bytes: await read(userId) }),
    })
  const saidOf = shared(said)
  const totalOf = shared(exact)

  const sumOf = ([sum]: { bytes: number }[]): number => sum?.bytes ?? 0

  async function said(userId: string): Promise<number> {
    const isKept = { expires_at: { $exists: false }, $or: [{ counted: false }, { public: true }] }
    const [logs, shown] = await Promise.all([
      threads.aggregate<{ bytes: number }>([
        { $match: { user_id: userId, ...isKept } },
        { $group: { _id: null, bytes: { $sum: '$log_bytes' } } },
      ]),
      attachments.aggregate<{ bytes: number }>([
        { $match: { user_id: userId } },
        { $group: { _id: null, bytes: { $sum: '$size' } } },
      ]),
    ])
    return sumOf(logs) + sumOf(shown)
  }

  /** What is announced for the open uploads of a user and has not arrived yet. */
  async function announced(userId: string, exceptId: string | undefined): Promise<number> {
    const isOpen = { user_id: userId, upload: { $exists: true }, status: 'uploading' as const }
    const uploads = await files
      .find({ ...isOpen, expires_at: { $gt: new Date() } }, { upload: 1 })
      .lean<Pick<FileRecord, '_id' | 'upload'>[]>()
    const open = uploads.filter(({ _id }) => _id !== exceptId)
    if (open.length === 0) return 0
    const names = open.map(({ _id }) => partsOf(_id).ingestion_id)
    const arrived = await files.aggregate<{ _id: string; bytes: number }>([
      { $match: { user_id: userId, ingestion_id: { $in: names } } },
      { $group: { _id: '$ingestion_id', bytes: { $sum: '$size' } } },
    ])
    const bytesOf = new Map(arrived.map(({ _id, bytes }) => [_id, bytes]))
    return open.reduce((sum, { _id, upload }) => {
      const there = bytesOf.get(partsOf(_id).ingestion_id) ?? 0
      return sum + Math.max(0, (upload?.bytes ?? 0) - there)
    }, 0)
  }

  async function exact(userId: string, exceptUpload?: string): Promise<number> {
    const [stored, open, { bytes: ofRuns }] = await Promise.all([
      files.aggregate<{ bytes: number }>([
        { $match: { user_id: userId, ...hasOwnBytes } },
        { $group: { _id: null, bytes: { $sum: '$size' } } },
      ]),
      announced(userId, exceptUpload),
      saidOf.forceFetch(userId),
    ])
    return sumOf(stored) + open + ofRuns
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

/** The parts of an upload among the files. */
export const partsOf = (uploadId: string) => ({ ingestion_id: `upload:${uploadId}` })
