import type { EntryId } from '../../domain/event-ids.ts'
import type { RunEntry } from '../../domain/run-events.ts'
import type { RunStream } from '../runs/run-stream.ts'

/** A newer attempt, a cancellation or a deletion has taken the run over: what this writer says counts no more. */
export class SupersededError extends Error {
  constructor() {
    super('Another attempt has taken this run over.')
    this.name = 'SupersededError'
  }
}

export type RunWriter = ReturnType<typeof createRunWriter>

/** Pieces that arrive within this time go out together; readers are shown about thirty states a second. */
const mergeMs = 20
/** A whole message goes out every so often, so that a stream whose beginning was cut can still be read. */
const snapshotEvery = 500

interface RunWriterOptions {
  stream: Pick<RunStream, 'publish'>
  runId: string
  fence: number
  /** What goes out before, and together with, the first entries. */
  initial: RunEntry[]
  /** The message being written, whole, as entries that replace what readers know of it. */
  restate: () => RunEntry[]
  /** Called once when the stream refuses this writer. */
  onSuperseded: () => void
  onError: (error: unknown) => void
}

/**
 * Publishes a step's entries: the first at once, later ones merged while an earlier publication is
 * under way. When Redis does not take some, the message is restated whole as soon as it does again:
 * a run does not fail because nobody can watch it.
 */
export function createRunWriter({ stream, runId, fence, initial, restate, onSuperseded, onError }: RunWriterOptions) {
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
    while (pending.length > 0 && !superseded) {
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
    /** Publishes what is left without waiting for more, until everything pushed so far is published, lost or refused. */
    async drain(): Promise<void> {
      draining = true
      endPause()
      while (flushing !== undefined) await flushing
      draining = false
    },
    /** The newest entry of the stream that is this writer's. */
    get lastId() {
      return lastId
    },
  }
}

function isNotPiece(entry: RunEntry): boolean {
  return entry.type !== 'text' && entry.type !== 'call' && entry.type !== 'begin'
}

/** Neighbouring pieces of one text, or of the arguments of one call, as one piece. */
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
