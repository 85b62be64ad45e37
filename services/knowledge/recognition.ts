import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'

export interface RecognitionDeps {
  collections: Pick<Collections, 'users'>
  /** Processor time of one user and day (UTC) for reading pictures. */
  secondsPerDay: number
  onError(error: unknown): void
}

export type Recognition = ReturnType<typeof createRecognition>

/** Counts how long the pictures of each user take to read. A page that is being read when the day ends counts in the next. */
export function createRecognition({ collections: { users }, secondsPerDay, onError }: RecognitionDeps) {
  async function add(userId: string, seconds: number): Promise<void> {
    const day = dayOf(new Date())
    for (let attempt = 0; attempt < 2; attempt++) {
      const known = { _id: userId, 'recognition.day': day }
      if ((await users.updateOne(known, { $inc: { 'recognition.seconds': seconds } })).matchedCount > 0) return
      const begun = await users.updateOne(
        { _id: userId, 'recognition.day': { $ne: day } },
        { $set: { recognition: { day, seconds } } },
      )
      if (begun.matchedCount > 0) return
    }
  }

  return {
    async secondsLeft(userId: string): Promise<number> {
      const user = await users.findById(userId, { recognition: 1 }).lean<Pick<UserRecord, 'recognition'>>()
      const { day, seconds = 0 } = user?.recognition ?? {}
      return Math.max(0, secondsPerDay - (day === dayOf(new Date()) ? seconds : 0))
    },

    /** Does not wait: the reading goes on meanwhile. */
    note(userId: string, seconds: number): void {
      if (seconds > 0) void add(userId, seconds).catch(onError)
    },
  }
}

const dayOf = (time: Date) => time.toISOString().slice(0, 10)
