import { withNewChildIds } from '../../domain/archive/child-run-ids.ts'
import type { ReadRecords } from '../../domain/archive/items.ts'
import type { RunKey } from '../../domain/records/run.ts'
import { toolCallKey } from '../../domain/records/tool-call.ts'
import { refused } from '../capability.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { feedbackStore } from '../stores/feedback.ts'
import { runStore } from '../stores/runs.ts'
import { threadStore } from '../stores/threads.ts'
import { toolCallStore } from '../stores/tool-calls.ts'
import type { Import } from './import.ts'
import { recordOutcome } from './report.ts'

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
  const toolCalls = toolCallStore(collections)
  const feedback = feedbackStore(collections)

  return {
    toolCall: (archived: ReadRecords['tool_calls']) => {
      const { run_id: oldRun, step, index } = archived
      return recordOutcome(report, 'tool_calls', toolCallKey(oldRun, step, index), async () => {
        const run = await ownRun(oldRun)
        const id = toolCallKey(run._id, step, index)
        if ((await toolCalls.findInThread(run.thread_id, { run_id: run._id, step, index })) !== null) return 'existing'
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
          ...(archived.failed ? { failed: true } : {}),
          ...(archived.decision === undefined ? {} : { decision: archived.decision }),
          ...(archived.asked === undefined ? {} : { asked: withNewChildIds(archived.asked, idOf) }),
          created_at: created,
          finished_at: archived.finished_at === undefined ? created : new Date(archived.finished_at),
        }
        return stored(
          run,
          () => toolCalls.add(record),
          () => toolCalls.remove(record),
        )
      })
    },

    feedback: (archived: ReadRecords['feedback']) =>
      recordOutcome(report, 'feedback', archived.feedback_id, async () => {
        const run = await ownRun(archived.run_id)
        const id = idOf('feedback', archived.feedback_id)
        if ((await feedback.findOwned(userId, id)) !== null) return 'existing'
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
          () => feedback.add(record),
          () => feedback.remove(record),
        )
      }),
  }

  async function ownRun(oldId: string): Promise<RunKey> {
    const run = await runStore(collections).findKeyOwned(userId, idOf('run', oldId))
    if (run === null) throw refused('its run was not imported')
    return run
  }

  /** Stored first and checked afterwards: see services/parents.ts. */
  async function stored(
    run: RunKey,
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
    if ((await threadStore(collections).findOwned(userId, run.thread_id)) !== null) return 'imported'
    await remove()
    throw refused('its thread was deleted')
  }
}
