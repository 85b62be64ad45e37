import { setTimeout as pause } from 'node:timers/promises'

export interface WatchedStream {
  /** An event came that shows progress. */
  moved(): void
  over(): void
}

export type Progress = ReturnType<typeof createProgress>

/** How long streams stand still after a fault. */
export function createProgress() {
  interface Stream {
    /** When events came. */
    moves: number[]
    isOver: boolean
  }
  const open = new Set<Stream>()

  return {
    watch(): WatchedStream {
      const stream: Stream = { moves: [], isOver: false }
      open.add(stream)
      return {
        moved: () => void stream.moves.push(Date.now()),
        over: () => {
          stream.isOver = true
          open.delete(stream)
        },
      }
    },

    /** Waits until a stream is in the middle of its answer, though not for long: there may be a fault in the way. */
    async untilBusy(): Promise<void> {
      const deadline = Date.now() + 3_000
      while (Date.now() < deadline && ![...open].some(({ moves }) => moves.length > 0)) await pause(10)
    },

    /**
     * To be called before a fault. The result waits until the streams that were in the middle of their answer are over, and
     * tells the longest time in milliseconds that one of them stood still after `since`; undefined when none was left.
     */
    before() {
      const streams = [...open].filter(({ moves }) => moves.length > 0)
      return async (since: number, limitMs: number): Promise<number | undefined> => {
        while (Date.now() < since + limitMs && !streams.every(({ isOver }) => isOver)) await pause(10)
        if (!streams.every(({ isOver }) => isOver)) return limitMs
        const stops = streams.flatMap(({ moves }) =>
          moves.flatMap((movedAt, index) =>
            movedAt > since ? [movedAt - Math.max(since, moves[index - 1] ?? since)] : [],
          ),
        )
        return stops.length === 0 ? undefined : Math.max(...stops)
      }
    },
  }
}
