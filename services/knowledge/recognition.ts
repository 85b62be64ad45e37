import type { Collections } from '../collections.ts'
import { userStore } from '../stores/users.ts'

interface RecognitionDeps {
  collections: Pick<Collections, 'users'>
  /** Processor time of one user and day (UTC) for reading pictures. */
  secondsPerDay: number
  onError(error: unknown): void
}

export type Recognition = ReturnType<typeof createRecognition>

/** Counts how long the pictures of each user take to read. A page that is being read when the day ends counts in the next. */
export function createRecognition({ collections, secondsPerDay, onError }: RecognitionDeps) {
  const users = userStore(collections)

  async function add(userId: string, seconds: number): Promise<void> {
    const work = { day: dayOf(new Date()), seconds }
    // Another process may begin the day at the same time.
    if (!(await users.addRecognition(userId, work))) await users.addRecognition(userId, work)
  }

  return {
    async secondsLeft(userId: string): Promise<number> {
      const { day, seconds = 0 } = (await users.recognitionOf(userId)) ?? {}
      return Math.max(0, secondsPerDay - (day === dayOf(new Date()) ? seconds : 0))
    },

    /** Does not wait: the reading goes on meanwhile. */
    note(userId: string, seconds: number): void {
      if (seconds > 0) void add(userId, seconds).catch(onError)
    },
  }
}

const dayOf = (time: Date) => time.toISOString().slice(0, 10)
