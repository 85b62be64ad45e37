import { AppError } from '../../../domain/errors.ts'
import { type RunRecord, isOpenRun, runKey } from '../../../domain/records/run.ts'
import { itemPlaceOf, responseId } from '../../../domain/responses/ids.ts'
import type { Caller } from '../../assistants/write-assistants.ts'
import type { Collections } from '../../collections.ts'

/** What every id of a call that a person has allowed begins with; such calls have ids that no model gives. */
export const allowedCallPrefix = (runId: string): string => `call_${runId}_`

/**
 * Lets one response make the calls that a person has allowed, however many requests carry the decision: the run that asked
 * names the run that makes each of them. Throws `conflict` if another one makes it or has made it; one that ended before it
 * did leaves the call to the next. The result gives them back, for a run that is not stored.
 */
export function createClaimCalls({ runs, toolCalls }: Pick<Collections, 'runs' | 'toolCalls'>) {
  type Asking = Pick<RunRecord, '_id' | 'thread_id' | 'allowed_calls'>

  /** A run that cannot be read is not known to have made nothing. */
  async function mayHaveMade({ userId, projectId }: Caller, runId: string): Promise<boolean> {
    const run = await runs
      .findOne({ _id: runId, user_id: userId, project_id: projectId }, { status: 1, thread_id: 1 })
      .lean<Pick<RunRecord, '_id' | 'status' | 'thread_id'>>()
    if (run === null || isOpenRun(run)) return true
    const made = { run_id: runId, thread_id: run.thread_id, status: { $ne: 'waiting' as const } }
    const calls = await toolCalls.find(made, { call_id: 1 }).lean<{ call_id: string }[]>()
    return calls.some(({ call_id: id }) => id.startsWith(allowedCallPrefix(runId)))
  }

  /** `requestIds`: of the items that asked. Those of a client that keeps them itself have no run here. */
  return async (caller: Caller, requestIds: string[], runId: string): Promise<() => Promise<void>> => {
    const taken: (() => Promise<unknown>)[] = []
    const takeBack = async () => {
      for (const back of taken) await back()
    }
    try {
      for (const requestId of requestIds) {
        const place = itemPlaceOf(requestId)
        if (place === undefined) continue
        const own = { _id: place.entryId, user_id: caller.userId, project_id: caller.projectId }
        const asking = await runs.findOne(own, { thread_id: 1, allowed_calls: 1 }).lean<Asking>()
        if (asking === null) continue
        const name = `${place.messageId}_${place.call ?? 0}`
        const member = `allowed_calls.${name}`
        const known = asking.allowed_calls?.[name]
        if (known === runId) continue
        if (known !== undefined && (await mayHaveMade(caller, known))) throw madeElsewhere(known)
        const key = { ...runKey(asking), user_id: caller.userId }
        const { matchedCount } = await runs.updateOne(
          { ...key, [member]: known ?? { $exists: false } },
          { $set: { [member]: runId } },
        )
        if (matchedCount === 0) throw madeElsewhere()
        taken.push(() => runs.updateOne({ ...key, [member]: runId }, { $unset: { [member]: 1 } }).exec())
      }
    } catch (error) {
      await takeBack()
      throw error
    }
    return takeBack
  }
}

function madeElsewhere(runId?: string): AppError {
  const where = runId === undefined ? 'another response' : `the response ${responseId(runId)}`
  return new AppError('conflict', `The call that this request allows is made by ${where}: continue from that one.`)
}
