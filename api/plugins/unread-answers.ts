import { type IncomingMessage, ServerResponse } from 'node:http'

export interface UnreadLimits {
  /** Bytes of all answers that wait in the process because their clients do not read them. */
  maxUnreadMb?: number
  /** How long a client may read nothing of an answer that waits for it. */
  unreadSeconds?: number
}

/** An eighth of the memory that the chart allows an API process. */
const defaultMaxUnreadMb = 256
/** A tunnel or a sleeping laptop may take a minute. */
const defaultUnreadSeconds = 120

type Callback = (error: Error | null | undefined) => void

/** An answer, or a connection with answers, that may hold bytes which its client does not read. */
export interface UnreadAnswer {
  /** The bytes that wait now; undefined if they are too few to count. */
  bytes(): number | undefined
  /** Its bytes begin to count. */
  begin?(): void
  /** They count no more. */
  finish?(): void
  /** Ends it, with its connection. */
  destroy(): void
}

export type UnreadAnswers = ReturnType<typeof createUnreadAnswers>

/**
 * Bounds the memory of answers that clients do not read. Whoever writes an answer notes it at every write. Above the limit,
 * those that have taken nothing for longest are destroyed, so that readers are answered.
 */
export function createUnreadAnswers({ maxUnreadMb = defaultMaxUnreadMb }: Pick<UnreadLimits, 'maxUnreadMb'> = {}) {
  const maxBytes = maxUnreadMb * 1024 * 1024
  /** The bytes that wait, by answer; what has waited longest comes first. */
  const unread = new Map<UnreadAnswer, number>()
  let total = 0

  function measure(answer: UnreadAnswer): void {
    const bytes = answer.bytes()
    if (bytes === undefined) return forget(answer)
    const before = unread.get(answer)
    total += bytes - (before ?? 0)
    unread.set(answer, bytes)
    if (before === undefined) answer.begin?.()
  }

  function forget(answer: UnreadAnswer): void {
    total -= unread.get(answer) ?? 0
    if (unread.delete(answer)) answer.finish?.()
  }

  function relieve(): void {
    if (total <= maxBytes) return
    // Clients may have read some of them since they were measured.
    for (const answer of unread.keys()) measure(answer)
    for (const answer of unread.keys()) {
      if (total <= maxBytes) return
      forget(answer)
      answer.destroy()
    }
  }

  return {
    /** Measures an answer. Returns whether its bytes count now; then they count until it is noted again or forgotten. */
    note(answer: UnreadAnswer): boolean {
      measure(answer)
      if (!unread.has(answer)) return false
      relieve()
      return true
    },
    forget,
  }
}

/**
 * A class for the responses of a server, which note themselves. Connections that hold less than Node's own limit for one
 * (64 KiB) are not counted: their number is limited.
 */
export function notedResponses(
  answers: UnreadAnswers,
  { unreadSeconds = defaultUnreadSeconds }: Pick<UnreadLimits, 'unreadSeconds'>,
) {
  return class<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    readonly #answer: UnreadAnswer = {
      bytes: () => (this.socket?.writableNeedDrain === true ? this.socket.writableLength : undefined),
      // Node counts every byte that the client takes as activity.
      begin: () => void this.setTimeout(unreadSeconds * 1000),
      // The time limit of a connection that waits for its next request is not touched.
      finish: () => void (this.writableEnded || this.setTimeout(0)),
      destroy: () => void this.destroy(),
    }
    #isWatched = false

    override write(chunk: unknown, callback?: Callback): boolean
    override write(chunk: unknown, encoding: BufferEncoding, callback?: Callback): boolean
    override write(...given: unknown[]): boolean {
      const takesMore: unknown = Reflect.apply(super.write, this, given)
      this.#inspect()
      return takesMore === true
    }

    override end(callback?: () => void): this
    override end(chunk: unknown, callback?: () => void): this
    override end(chunk: unknown, encoding: BufferEncoding, callback?: () => void): this
    override end(...given: unknown[]): this {
      Reflect.apply(super.end, this, given)
      this.#inspect()
      return this
    }

    #inspect(): void {
      if (!answers.note(this.#answer) || this.#isWatched) return
      this.#isWatched = true
      this.on('drain', () => answers.forget(this.#answer))
      this.once('close', () => answers.forget(this.#answer))
    }
  }
}
