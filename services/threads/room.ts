import { invalidInput } from '../../domain/errors.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'

/** Maximum size of a thread's log. A database record holds 16 MB. */
export const threadMaxBytes = 64 * 1024 * 1024

/** Throws `invalid_input` if this much more does not fit into the thread. */
export function requireRoom({ log_bytes: used = 0 }: Pick<ThreadRecord, 'log_bytes'>, bytes: number): void {
  if (used + bytes > threadMaxBytes) throw threadFull()
}

export function threadFull() {
  const words = `a thread holds at most ${threadMaxBytes / (1024 * 1024)} MB of messages, and this one is full: start a new thread`
  return invalidInput(['body'], words, 'thread_full')
}
