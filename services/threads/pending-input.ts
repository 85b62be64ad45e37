import { logStore } from '../stores/log.ts'
import { type OpenInput, runStore } from '../stores/runs.ts'
import { toolCallStore } from '../stores/tool-calls.ts'
import { type RunKey, type RunRecord, runKey } from '../../domain/records/run.ts'
import type { CheckpointRecord } from '../../domain/records/thread.ts'
import { inputEntry, toolsEntry } from '../../domain/contracts/thread.ts'
import { type Message, messagesToJson } from '../../domain/messages.ts'
import { toolMessageOf } from '../../domain/tool-message.ts'
import type { Collections } from '../collections.ts'
import { derivedId } from '../../domain/derived-id.ts'

/**
 * The input of a step as an entry of its thread's log, without its number: that of the run, or the results of the calls
 * of the step before.
 */
export type InputEntry = Omit<CheckpointRecord, 'seq'> & { run_id: string; step: number }

export type PendingInput = ReturnType<typeof createPendingInput>

/**
 * The input of a step is stored in the record of its run, or of its calls, and written into the log together with the
 * step's answer. Until then, code that shows the thread adds the input of the step that the thread is working on: of its
 * oldest open run. Read it before the log: if the answer is stored in between, its input is then in the log.
 */
export function createPendingInput(collections: Pick<Collections, 'runs' | 'checkpoints' | 'toolCalls'>) {
  const toolCalls = toolCallStore(collections)

  async function find(filter: Pick<RunKey, 'thread_id'> | RunKey): Promise<InputEntry | undefined> {
    const run = await runStore(collections).findOldestOpen(filter)
    // Checked again, because a wrong record would show the owner of the thread another user's input.
    const isOwn = run !== null && ('_id' in filter ? run._id === filter._id : run.thread_id === filter.thread_id)
    return isOwn ? newestInputOf(run) : undefined
  }

  /** Of a run that has called tools, the results; undefined until all are there. */
  async function newestInputOf(run: OpenInput): Promise<InputEntry | undefined> {
    const step = await toolCalls.lastStepOf(run._id)
    if (step === undefined) return inputEntryOf(run)
    const calls = await toolCalls.listOfStep(run._id, step)
    const isAnswered = calls.every(({ status }) => status === 'done')
    return isAnswered ? resultsEntryOf(run, step, calls.map(toolMessageOf)) : undefined
  }

  return {
    /** It may be in the log already. */
    ofThread: (threadId: string) => find({ thread_id: threadId }),
    ofRun: (key: RunKey) => find(runKey(key)),

    /** The input that must be written before an entry that does not belong to the run, so that the log keeps the order. */
    async missingFromLog(threadId: string): Promise<InputEntry | undefined> {
      const input = await find({ thread_id: threadId })
      if (input === undefined) return undefined
      return (await logStore(collections).hasStep(threadId, input.run_id, input.step)) ? undefined : input
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

/** The results of the calls of a step. Its id follows from the step, so that it is known before it is stored, too. */
export function resultsEntryOf(
  { _id, thread_id }: Pick<RunRecord, '_id' | 'thread_id'>,
  step: number,
  results: Message[],
): InputEntry {
  return {
    _id: derivedId(['results', _id, String(step)], _id),
    thread_id,
    messages_json: messagesToJson(results),
    source: 'tools',
    run_id: _id,
    step: toolsEntry(step),
    created_at: new Date(),
  }
}
