import type { Readable } from 'node:stream'
import { AppError } from '../../domain/errors.ts'
import type { Transfer } from '../transfers.ts'

/** How long the answer to a client that was too slow may take. */
const lingerMs = 1000

/**
 * The pieces of a body as they arrive; the time until each comes counts as its client's. `close` gives up the rest: it
 * is read, because a client reads an answer only when its whole request was read, and of a slow client it is cut off.
 */
export function arriving(body: Readable, transfer: Transfer) {
  const iterator = body.iterator({ destroyOnReturn: false })

  async function* pieces(): AsyncGenerator<Uint8Array, undefined> {
    for (;;) {
      transfer.waits()
      const next = await iterator.next().catch((cause: unknown) => {
        throw brokenOff(cause)
      })
      const bytes = next.done === true ? undefined : Buffer.from(next.value)
      transfer.moved(bytes?.length ?? 0)
      if (bytes === undefined) return
      yield bytes
    }
  }

  return {
    pieces: pieces(),
    close(): void {
      void drain(iterator)
      if (transfer.signal.aborted) setTimeout(() => body.destroy(), lingerMs).unref()
    },
  }
}

/** Reads the rest with the same iterator, because a stream that has one does not continue without it. */
async function drain(iterator: AsyncIterator<unknown>): Promise<void> {
  try {
    while ((await iterator.next()).done !== true);
  } catch {
    // The client has gone.
  }
}

function brokenOff(cause: unknown): AppError {
  if (cause instanceof AppError) return cause
  return new AppError('bad_request', 'The upload of the archive was interrupted.', { cause })
}
