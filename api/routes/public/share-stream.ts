import type { EventStream } from '../../sse/event-stream.ts'

/**
 * One stream for several followers, each of which ends its own share: with the last, `onLast` is called and the stream
 * ends. A client that leaves, or can take more, is reported to all.
 */
export function shareStream(stream: EventStream, count: number, onLast: () => void) {
  const listeners: (() => void)[] = []
  let open = count
  stream.onProgress(() => {
    for (const listener of listeners) listener()
  })
  const end = () => {
    open -= 1
    if (open > 0) return
    if (!stream.isClosed) onLast()
    stream.end()
  }
  return Array.from({ length: count }, () => ({
    comment: stream.comment,
    end,
    onProgress: (listener: () => void) => void listeners.push(listener),
    get isWritable() {
      return stream.isWritable
    },
    get isClosed() {
      return stream.isClosed
    },
    get sentBytes() {
      return stream.sentBytes
    },
  }))
}
