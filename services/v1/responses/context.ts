import { createMessageWindow } from '../../../domain/conversation.ts'
import type { Message } from '../../../domain/messages.ts'
import type { RunRecord } from '../../../domain/records/run.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import type { Collections } from '../../collections.ts'
import { logStore } from '../../stores/log.ts'
import type { ScanLog } from '../../threads/log-scan.ts'

/** A model that reads a million tokens is shown about as much. A record of the database holds 16 MB. */
const maxContextBytes = 4 * 1024 * 1024

export interface EarlierMessages {
  messages: Message[]
  /** False if older messages were left out. */
  isWhole: boolean
}

/** Reads the conversation up to the end of a run, without what was added to its thread since: the newest 4 MB of it. */
export function createReadContext(collections: Pick<Collections, 'checkpoints'>, scan: ScanLog) {
  async function readLog(filter: Parameters<ScanLog>[0]['filter'], userId: string): Promise<EarlierMessages> {
    const window = createMessageWindow(maxContextBytes)
    await scan({ filter, userId }, (_entry, messages) => {
      for (const { message, bytes } of messages) window.add(message, bytes)
    })
    return { messages: window.messages(), isWhole: window.omitted() === 0 }
  }

  async function upTo(run: Pick<RunRecord, '_id' | 'thread_id' | 'user_id'>): Promise<EarlierMessages> {
    const last = await logStore(collections).seqOfRun(run.thread_id, run._id, 'last')
    if (last === undefined) return { messages: [], isWhole: true }
    return readLog({ thread_id: run.thread_id, seq: { $lt: last + 1 } }, run.user_id)
  }

  return Object.assign(upTo, {
    /** All of a thread. */
    ofThread: ({ _id, user_id: userId }: Pick<ThreadRecord, '_id' | 'user_id'>) => readLog({ thread_id: _id }, userId),
  })
}
