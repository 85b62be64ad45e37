import { createMessageWindow } from '../../../domain/conversation.ts'
import type { Message } from '../../../domain/messages.ts'
import type { RunRecord } from '../../../domain/records/run.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import type { Collections } from '../../collections.ts'
import { logStore } from '../../stores/log.ts'
import { threadStore } from '../../stores/threads.ts'
import type { ScanLog } from '../../threads/log-scan.ts'
import { responseStore } from '../store.ts'
import type { ResponseRun } from './response-run.ts'

/** A model that reads a million tokens is shown about as much. A record of the database holds 16 MB. */
const maxContextBytes = 4 * 1024 * 1024

interface EarlierMessages {
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

/** A longer conversation goes on in a thread of its own, with its newest part: a thread holds 64 MB. */
const maxLogBytes = 16 * 1024 * 1024

/**
 * The thread of a response, if the response `runId` can go on in it: then nothing is copied. Only the first that continues
 * a response can; undefined for the others, for one of a conversation, and where something else was added since.
 */
export function createContinuedThread(collections: Pick<Collections, 'checkpoints' | 'runs' | 'threads'>) {
  return async ({ run, facts }: ResponseRun, runId: string): Promise<ThreadRecord | undefined> => {
    if (facts.conversation_id !== undefined || facts.continued_by !== undefined) return undefined
    const thread = await threadStore(collections).findOfAny(run.thread_id)
    if (thread === null || (thread.log_bytes ?? 0) > maxLogBytes) return undefined
    const last = await logStore(collections).seqOfRun(run.thread_id, run._id, 'last')
    if (last === undefined || last !== thread.last_seq) return undefined
    const text = JSON.stringify({ ...facts, continued_by: runId })
    return (await responseStore(collections).noteContinued(run, text)) ? thread : undefined
  }
}
