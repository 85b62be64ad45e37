import type { EntryId } from '../../domain/event-ids.ts'
import type { RunEntry } from '../../domain/run-events.ts'
import type { RunStream } from './run-stream.ts'

export type RunWriter = ReturnType<typeof createRunWriter>

/** Pieces that arrive within this time are published together; readers receive about thirty states a second. */
const mergeMs = 20
/** A whole message is published at this interval, so that a stream whose beginning was trimmed can still be read. */
const snapshotEvery = 500

interface RunWriterOptions {
  stream: Pick<RunStream, 'publish'>
  runId: string
  fence: number
  /** Entries to publish before, and together with, the first entries. */
  initial: RunEntry[]
  /** Whether the run was dropped: then nothing more is published. */
  isRefused: () => boolean
  /** The whole message that is being written, as entries that replace its earlier pieces. */
  restate: () => RunEntry[]
  /** Called once when the stream refuses this writer. */
  onSuperseded: () => void
  onError: (error: unknown) => void
}

/**
 * Publishes a step's entries: the first at once, later ones merged while an earlier publication is under way. When Redis did not accept some, the whole message is published again as soon as it does: a run does not
 * fail because Redis is away.
 */
export function createRunWriter({
  stream,
  runId,
  fence,
  initial,
  isRefused,
  restate,
  onSuperseded,
  onError,
}: RunWriterOptions) {
  let pending: RunEntry[] = [...initial]
  let flushing: Promise<void> | undefined
  let superseded = false
  let lastId: EntryId | undefined
  let lost = false
  let published = 0
  let draining = false
  let endPause = () => {}

  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, mergeMs)
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  async function flush(): Promise<void> {
    while (pending.length > 0 && !superseded && !isRefused()) {
      published += 1
      const entries = lost || published % snapshotEvery === 0 ? [...restate(), ...pending.filter(isNotPiece)] : pending
      pending = []
      try {
        const id = await stream.publish(runId, fence, mergePieces(entries))
        superseded = id === null
        lastId = id ?? lastId
        lost = false
        if (superseded) onSuperseded()
      } catch (error) {
        lost = true
        onError(error)
      }
      if (pending.length > 0 && !draining) await pause()
    }
  }

  return {
    push(...entries: RunEntry[]): void {
      pending.push(...entries)
      flushing ??= flush().finally(() => {
        flushing = undefined
      })
    },
    /**
     * Publishes the rest without waiting for more. Resolves when everything pushed so far is published, lost or
     * refused.
     */
    async drain(): Promise<void> {
      draining = true
      endPause()
      while (flushing !== undefined) await flushing
      draining = false
    },
    /** The id of this writer's newest entry in the stream. */
    get lastId() {
      return lastId
    },
  }
}

function isNotPiece(entry: RunEntry): boolean {
  return entry.type !== 'text' && entry.type !== 'call' && entry.type !== 'begin'
}

/** Merges neighbouring pieces of one text, or of the arguments of one call. */
function mergePieces(entries: RunEntry[]): RunEntry[] {
  const merged: RunEntry[] = []
  for (const entry of entries) {
    const last = merged.at(-1)
    const both = last && mergedPiece(last, entry)
    if (both === undefined) merged.push(entry)
    else merged[merged.length - 1] = both
  }
  return merged
}

function mergedPiece(a: RunEntry, b: RunEntry): RunEntry | undefined {
  if (a.type === 'text' && b.type === 'text' && a.id === b.id) return { ...a, text: a.text + b.text }
  if (a.type === 'call' && b.type === 'call' && a.id === b.id && a.index === b.index)
    return { ...a, ...b, args: (a.args ?? '') + (b.args ?? '') }
  return undefined
}
