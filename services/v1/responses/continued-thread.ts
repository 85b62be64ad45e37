import type { ThreadRecord } from '../../../domain/records/thread.ts'
import type { Collections } from '../../collections.ts'
import { logStore } from '../../stores/log.ts'
import { threadStore } from '../../stores/threads.ts'
import { responseStore } from '../store.ts'
import type { ResponseRun } from './response-run.ts'

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
