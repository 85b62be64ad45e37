import type { ThreadRecord } from '../../../domain/records/thread.ts'
import { type ArchiveThreadDeps, createArchiveThread } from './archive-thread.ts'
import { type OnMeasured, measured } from './measured.ts'

export type ArchiveSweep = ReturnType<typeof createArchiveSweep>

/** Limits of a round. */
const perRound = 200
const datedPerRound = 5000
const roundMs = 10_000

/**
 * Moves the texts of threads that nobody has opened since `before` from their records to objects, at most 200 threads a
 * round. Several processes may execute rounds at the same time. A thread that a round looks at is archived, or gets a new
 * date and is looked at again when that has passed, so that no round looks at it in vain twice.
 */
export function createArchiveSweep(deps: ArchiveThreadDeps & { onMeasured?: OnMeasured | undefined }) {
  const { threads } = deps.collections
  const archive = createArchiveThread(deps)

  return {
    /** Returns how many threads were archived. A failure ends the round; the next one begins with another thread. */
    async round(before: Date): Promise<number> {
      await dateNewThreads()
      const due = await threads
        .find({ 'archive.at': null, opened_at: { $lt: before } })
        .sort({ opened_at: 1 })
        .limit(perRound)
        .lean<ThreadRecord[]>()
      const until = Date.now() + roundMs
      let archived = 0
      for (const thread of shuffled(due)) {
        if (Date.now() > until) break
        const { updated_at: changed } = thread
        if (changed >= before) await date(thread, changed)
        else if (
          mayBeArchived(thread) &&
          (await measured('archive', deps.onMeasured, (onMoved) => attempt(thread, onMoved)))
        )
          archived += 1
        else await date(thread, new Date())
      }
      return archived
    },

    archive,
  }

  /** Gives threads that have no date the time of their last change. */
  async function dateNewThreads(): Promise<void> {
    const undated = await threads.find({ 'archive.at': null, opened_at: null }, { _id: 1 }).limit(datedPerRound).lean()
    if (undated.length === 0) return
    await threads.updateMany(
      { _id: { $in: undated.map(({ _id }) => _id) }, opened_at: null },
      [{ $set: { opened_at: '$updated_at' } }],
      { updatePipeline: true },
    )
  }

  async function attempt(thread: ThreadRecord, onMoved: (bytes: number) => void): Promise<boolean> {
    try {
      return await archive(thread, onMoved)
    } catch (error) {
      // Its deletion also removes the object that is being written.
      const isKept = (await threads.exists({ _id: thread._id, deleting: { $ne: true } })) !== null
      if (!isKept) return false
      await date(thread, new Date())
      throw error
    }
  }

  async function date({ _id, opened_at: opened }: ThreadRecord, at: Date): Promise<void> {
    await threads.updateOne({ _id, opened_at: opened }, { $set: { opened_at: at } })
  }
}

function mayBeArchived(thread: ThreadRecord): boolean {
  const { last_seq: entries = 0, expires_at: expires, deleting } = thread
  return entries > 0 && expires === undefined && !deleting
}

/** So that two processes rarely take the same thread at once. */
function shuffled<T>(items: T[]): T[] {
  const placed = items.map((item) => ({ item, place: Math.random() }))
  return placed.toSorted((a, b) => a.place - b.place).map(({ item }) => item)
}
