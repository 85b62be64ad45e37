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

/**
 * Bounds the memory of answers that clients do not read: a class for the responses of a server. Each response measures
 * itself at every write. Above the limit, the connections that have taken nothing for longest are
 * destroyed, so that readers are answered. Connections that hold less than Node's own limit for one (64 KiB) are not
 * counted: their number is limited.
 */
export function boundUnreadAnswers({
  maxUnreadMb = defaultMaxUnreadMb,
  unreadSeconds = defaultUnreadSeconds,
}: UnreadLimits) {
  const maxBytes = maxUnreadMb * 1024 * 1024
  /** The bytes that wait, by answer; what has waited longest comes first. */
  const unread = new Map<ServerResponse, number>()
  let total = 0

  function measure(response: ServerResponse): void {
    const { socket } = response
    if (socket === null || !socket.writableNeedDrain) return forget(response)
    const before = unread.get(response)
    total += socket.writableLength - (before ?? 0)
    unread.set(response, socket.writableLength)
    // Node counts every byte that the client takes as activity.
    if (before === undefined) response.setTimeout(unreadSeconds * 1000)
  }

  function forget(response: ServerResponse): void {
    total -= unread.get(response) ?? 0
    // The time limit of a connection that waits for its next request is not touched.
    if (unread.delete(response) && !response.writableEnded) response.setTimeout(0)
  }

  function relieve(): void {
    if (total <= maxBytes) return
    // Clients may have read some of them since they were measured.
    for (const response of unread.keys()) measure(response)
    for (const response of unread.keys()) {
      if (total <= maxBytes) return
      forget(response)
      response.destroy()
    }
  }

  return class<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    #isWatched = false

    override write(chunk: unknown, callback?: Callback): boolean
    override write(chunk: unknown, encoding: BufferEncoding, callback?: Callback): boolean
    override write(...given: unknown[]): boolean {
      const takesMore: unknown = Reflect.apply(super.write, this, given)
      this.#look()
      return takesMore === true
    }

    override end(callback?: () => void): this
    override end(chunk: unknown, callback?: () => void): this
    override end(chunk: unknown, encoding: BufferEncoding, callback?: () => void): this
    override end(...given: unknown[]): this {
      Reflect.apply(super.end, this, given)
      this.#look()
      return this
    }

    #look(): void {
      measure(this)
      if (!unread.has(this)) return
      if (!this.#isWatched) {
        this.#isWatched = true
        this.on('drain', () => forget(this))
        this.once('close', () => forget(this))
      }
      relieve()
    }
  }
}
