import type { Announced, ReadRecord, RefusedRecord } from '../../domain/archive/items.ts'
import type { ErrorCode, FieldProblem } from '../../domain/errors.ts'

/** What the reading thread is given at its start. */
export interface ReadJob {
  /** Maximum size of the archive, packed and unpacked. */
  maxMb: number
  /** The user who imports it, for the new ids in messages. */
  userId: string
}

/** To the thread: a piece of the archive or its end answers `more`; `continue` answers every other message. */
export type ToThread = { type: 'piece'; bytes: Uint8Array } | { type: 'end' } | { type: 'continue' }

/**
 * From the thread. It sends one message after the other and waits for `continue`; beside that, it asks for more of the
 * archive. The bytes of a file follow `file`, up to `file-end`.
 */
export type FromThread =
  | { type: 'more' }
  | (Said & {
      /** Bytes of the archive that were unpacked so far. */
      unpacked: number
    })

export type Said =
  | ReadRecord
  | RefusedRecord
  | (Announced & { type: 'file' })
  | { type: 'bytes'; bytes: Uint8Array }
  | { type: 'file-end' }
  | { type: 'done' }
  | { type: 'failed'; code: ErrorCode; message: string; fields?: FieldProblem[] }
