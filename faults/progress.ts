import { setTimeout as pause } from 'node:timers/promises'

export interface WatchedStream {
  /** Records an event that shows progress. */
  moved(): void
  over(): void
}

export type Progress = ReturnType<typeof createProgress>

/** Measures how long streams pause after a fault. */
export function createProgress() {
  interface Stream {
    /** The times of events. */
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

    /** Waits for a limited time until a stream is in the middle of its answer; an earlier fault may prevent this. */
    async untilBusy(): Promise<void> {
      const deadline = Date.now() + 3_000
      while (Date.now() < deadline && ![...open].some(({ moves }) => moves.length > 0)) await pause(10)
    },

    /**
     * Call this before a fault. The returned function waits until the streams that were in the middle of their
     * answers have ended, and returns the longest time in milliseconds that one of them paused after `since`;
     * undefined if there was none.
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
