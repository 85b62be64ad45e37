import { runKey } from '../../../domain/records/run.ts'
import type { CheckpointRecord, ThreadRecord } from '../../../domain/records/thread.ts'
import type { Collections } from '../../collections.ts'
import type { ResponseRun } from './response-run.ts'

/** A longer conversation goes on in a thread of its own, with its newest part: a thread holds 64 MB. */
const maxLogBytes = 16 * 1024 * 1024

/**
 * The thread of a response, if the response `runId` can go on in it: then nothing is copied. Only the first that continues
 * a response can; undefined for the others, for one of a conversation, and where something else was added since.
 */
export function createContinuedThread({
  checkpoints,
  runs,
  threads,
}: Pick<Collections, 'checkpoints' | 'runs' | 'threads'>) {
  return async ({ run, facts }: ResponseRun, runId: string): Promise<ThreadRecord | undefined> => {
    if (facts.conversation_id !== undefined || facts.continued_by !== undefined) return undefined
    const thread = await threads.findOne({ _id: run.thread_id, deleting: { $ne: true } }).lean<ThreadRecord>()
    if (thread === null || (thread.log_bytes ?? 0) > maxLogBytes) return undefined
    const last = await checkpoints
      .findOne({ thread_id: run.thread_id, run_id: run._id }, { seq: 1 })
      .sort({ step: -1 })
      .lean<Pick<CheckpointRecord, 'seq'>>()
    if (last === null || last.seq !== thread.last_seq) return undefined
    const text = JSON.stringify({ ...facts, continued_by: runId })
    const { matchedCount } = await runs.updateOne(
      { ...runKey(run), response_json: run.response_json },
      { $set: { response_json: text } },
    )
    return matchedCount === 0 ? undefined : thread
  }
}
