import type { ReadRecords } from '../../domain/archive/items.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import { toolCallKey } from '../../domain/records/tool-call.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import type { Import } from './import.ts'
import { withNewAskedIds } from '../../domain/archive/asked-ids.ts'
import { refused, settle } from './report.ts'

export interface ImportRunPartsDeps {
  collections: Pick<Collections, 'threads' | 'runs' | 'toolCalls' | 'feedback'>
}

/** The result of a call that had none when the archive was made. */
const neverDone = 'This call was not finished when the archive was made. It was not executed after the import.'

/**
 * Tool calls and feedback of imported runs: records of the past. A call is stored as done, so that no worker executes
 * it and nobody can approve it; its run has ended, too. Feedback is stored only: no workflow sends it.
 */
export function createRunPartsImport({ collections }: ImportRunPartsDeps, { userId, idOf, report }: Import) {
  const { threads, runs, toolCalls, feedback } = collections

  return {
    toolCall: (archived: ReadRecords['tool_calls']) => {
      const { run_id: oldRun, step, index } = archived
      return settle(report, 'tool_calls', toolCallKey(oldRun, step, index), async () => {
        const run = await ownRun(oldRun)
        const id = toolCallKey(run._id, step, index)
        if ((await toolCalls.exists({ _id: id, run_id: run._id })) !== null) return 'existing'
        const result = archived.result ?? (archived.status === 'done' ? undefined : neverDone)
        const created = new Date(archived.created_at)
        const record = {
          _id: id,
          run_id: run._id,
          thread_id: run.thread_id,
          step,
          index,
          call_id: archived.call_id,
          name: archived.name,
          args_json: archived.args_json,
          status: 'done' as const,
          ...(result === undefined ? {} : { result }),
          ...(archived.decision === undefined ? {} : { decision: archived.decision }),
          ...(archived.asked === undefined ? {} : { asked: withNewAskedIds(archived.asked, idOf) }),
          created_at: created,
          finished_at: archived.finished_at === undefined ? created : new Date(archived.finished_at),
        }
        return stored(
          run,
          () => toolCalls.create([record]),
          () => toolCalls.deleteOne({ _id: id, run_id: run._id }),
        )
      })
    },

    feedback: (archived: ReadRecords['feedback']) =>
      settle(report, 'feedback', archived.feedback_id, async () => {
        const run = await ownRun(archived.run_id)
        const id = idOf('feedback', archived.feedback_id)
        if ((await feedback.exists({ _id: id, user_id: userId })) !== null) return 'existing'
        const { key, score, value_json, comment } = archived
        const record = {
          _id: id,
          run_id: run._id,
          thread_id: run.thread_id,
          user_id: userId,
          key,
          ...(score === undefined ? {} : { score }),
          ...(value_json === undefined ? {} : { value_json }),
          ...(comment === undefined ? {} : { comment }),
          status: 'stored' as const,
          created_at: new Date(archived.created_at),
        }
        return stored(
          run,
          () => feedback.create([record]),
          () => feedback.deleteOne({ _id: id, user_id: userId }),
        )
      }),
  }

  type Owner = Pick<RunRecord, '_id' | 'thread_id'>

  async function ownRun(oldId: string): Promise<Owner> {
    const run = await runs.findOne({ _id: idOf('run', oldId), user_id: userId }, { thread_id: 1 }).lean<Owner>()
    if (run === null) throw refused('its run was not imported')
    return run
  }

  /** Stored first and checked afterwards: see services/parents.ts. */
  async function stored(
    run: Owner,
    create: () => Promise<unknown>,
    remove: () => PromiseLike<unknown>,
  ): Promise<'imported' | 'existing'> {
    try {
      await create()
    } catch (error) {
      // Another import of the same archive.
      if (isDuplicateKey(error)) return 'existing'
      throw error
    }
    if ((await threads.exists({ _id: run.thread_id, user_id: userId, deleting: { $ne: true } })) !== null)
      return 'imported'
    await remove()
    throw refused('its thread was deleted')
  }
}
