import { type RunKey, type RunRecord, openRunStatuses, runKey } from '../../domain/records/run.ts'
import type { CheckpointRecord } from '../../domain/records/thread.ts'
import { inputEntry } from '../../domain/contracts/thread.ts'
import type { Collections } from '../collections.ts'

/** The input of a run as an entry of its thread's log, without its number. */
export type InputEntry = Omit<CheckpointRecord, 'seq'> & { run_id: string }

export type PendingInput = ReturnType<typeof createPendingInput>

const members = { thread_id: 1, input_json: 1, created_at: 1 } as const
const open = { status: { $in: [...openRunStatuses] } }

/**
 * The input of a run is stored in the run's record, and written into the log together with the first answer. Until
 * then, code that shows the thread adds the input of the run that the thread is working on: its oldest open one.
 * Read it before the log: if the run ends in between, its input is then in the log.
 */
export function createPendingInput({ runs, checkpoints }: Pick<Collections, 'runs' | 'checkpoints'>) {
  type Shown = Pick<RunRecord, '_id' | keyof typeof members>
  async function find(filter: Pick<RunKey, 'thread_id'> | RunKey): Promise<InputEntry | undefined> {
    const run = await runs
      .findOne({ ...filter, thread_id: filter.thread_id, ...open }, members)
      .sort({ _id: 1 })
      .lean<Shown>()
    // Checked again, because a wrong record would show the owner of the thread another user's input.
    const isOwn = run !== null && ('_id' in filter ? run._id === filter._id : run.thread_id === filter.thread_id)
    return isOwn ? inputEntryOf(run) : undefined
  }
  return {
    /** It may be in the log already. */
    ofThread: (threadId: string) => find({ thread_id: threadId }),
    ofRun: (key: RunKey) => find(runKey(key)),

    /** The input that must be written before an entry that does not belong to the run, so that the log keeps the order. */
    async missingFromLog(threadId: string): Promise<InputEntry | undefined> {
      const input = await find({ thread_id: threadId })
      if (input === undefined) return undefined
      const isLogged = await checkpoints.exists({ thread_id: threadId, run_id: input.run_id, step: inputEntry })
      return isLogged === null ? input : undefined
    },
  }
}

/** The entry has the id of its run, so that its id is known before it is stored. */
export function inputEntryOf(run: Pick<RunRecord, '_id' | 'thread_id' | 'input_json' | 'created_at'>): InputEntry {
  return {
    _id: run._id,
    thread_id: run.thread_id,
    messages_json: run.input_json,
    source: 'input',
    run_id: run._id,
    step: inputEntry,
    created_at: run.created_at,
  }
}
