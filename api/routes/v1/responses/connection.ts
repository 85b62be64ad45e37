import { AsyncLocalStorage } from 'node:async_hooks'
import type { RunRecord } from '../../../../domain/records/run.ts'
import { responseId } from '../../../../domain/responses/ids.ts'

/**
 * What a WebSocket holds between its responses: the newest one that is not to be stored, so that the next can continue
 * it. It is deleted with the connection, or when another takes its place.
 */
export interface Connection {
  /** The ids of the responses that can be continued although they are not stored. */
  readonly retained: ReadonlySet<string>
  retain(run: RunRecord): void
  /** A response that continues this one has failed: it cannot be continued again. */
  drop(id: string): void
  close(): void
}

export function createConnection(forget: (run: RunRecord) => Promise<void>): Connection {
  let kept: RunRecord | undefined
  let isClosed = false
  const retained = new Set<string>()
  const drop = () => {
    const before = kept
    kept = undefined
    retained.clear()
    if (before !== undefined) void forget(before)
  }
  return {
    retained,
    retain(run) {
      drop()
      kept = run
      retained.add(responseId(run._id))
      // The client has left while the run was being started.
      if (isClosed) drop()
    },
    drop(id) {
      if (retained.has(id)) drop()
    },
    close() {
      isClosed = true
      drop()
    },
  }
}

/** Set while a request is answered that came over a WebSocket. */
export const currentConnection = new AsyncLocalStorage<Connection>()
