import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Message, messagesFromJson } from '../../domain/messages.ts'
import type { CheckpointRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import { createSemaphore } from '../semaphore.ts'
import { type LogFilter, logStore } from '../stores/log.ts'
import type { InputEntry, PendingInput } from './log.ts'

/** An entry of the log without its text. */
export type LogPosition = Omit<CheckpointRecord, 'messages_json'>

interface SizedMessage {
  message: Message
  /** Bytes of its JSON text. */
  bytes: number
}

interface LogPart {
  filter: LogFilter
  /** The user whose thread it is: users take turns in reading long logs. */
  userId: string
  /** The run has ended: all of it is in the log. */
  hasEnded?: boolean
}

export type ScanLog = ReturnType<typeof createLogScan>

/** Logs above this size wait for one of the slots. */
const longBytes = 1024 * 1024
/** Bytes that are parsed before other requests get a turn. */
const sliceBytes = 256 * 1024
const longAtOnce = 2
/** A busy machine lets them wait: each holds little until its turn. */
const longWaitingOfOne = 200
const batchSize = 100

interface LogScanDeps {
  collections: Pick<Collections, 'checkpoints'>
  pendingInput: PendingInput
}

/**
 * Passes the entries of a log to `visit`, oldest first, and keeps none of them. A thread may hold 64 MB, so reading
 * pauses for other requests, and a process reads only two long logs at once. The input of the step under way is
 * passed at the end if the log does not contain it yet.
 */
export function createLogScan({ collections, pendingInput }: LogScanDeps) {
  const { withSlot } = createSemaphore({ slots: longAtOnce, waitingPerOwner: longWaitingOfOne })

  async function pendingOf({ filter, hasEnded }: LogPart): Promise<InputEntry | undefined> {
    if (hasEnded) return undefined
    if (!('run_id' in filter)) return pendingInput.ofThread(filter.thread_id)
    const input = await pendingInput.ofRun({ _id: filter.run_id, thread_id: filter.thread_id })
    return input?.source === filter.source?.$ne ? undefined : input
  }

  return async function scan(
    part: LogPart,
    visit: (entry: LogPosition, messages: SizedMessage[]) => void,
  ): Promise<void> {
    const { filter, userId } = part
    // Before the log: see `createPendingInput`.
    let pending = await pendingOf(part)
    let lastSeq = 0
    const cursor = logStore(collections).open(filter, batchSize)
    /** Visits entries until about `maxBytes` are read; false at the end of the log. */
    const visitSome = async (maxBytes: number): Promise<boolean> => {
      for (let read = 0; read < maxBytes;) {
        const record = await cursor.next()
        if (record === null) return false
        const { messages_json: text, ...entry } = record
        if (entry.run_id === pending?.run_id && entry.step === pending?.step) pending = undefined
        lastSeq = entry.seq
        visit(entry, sizedMessages(text))
        read += text.length
      }
      return true
    }
    try {
      if (await visitSome(longBytes)) {
        await withSlot(async () => {
          while (await visitSome(sliceBytes)) await nextTurn()
        }, userId)
      }
    } finally {
      await cursor.close()
    }
    const seq = lastSeq + 1
    const until = 'run_id' in filter ? undefined : filter.seq?.$lt
    if (pending === undefined || (until !== undefined && seq >= until)) return
    const { messages_json: text, ...entry } = pending
    visit({ ...entry, seq }, sizedMessages(text))
  }
}

function sizedMessages(text: string): SizedMessage[] {
  const messages = messagesFromJson(text)
  const only = messages.length === 1
  return messages.map((message) => ({ message, bytes: Buffer.byteLength(only ? text : JSON.stringify(message)) }))
}
