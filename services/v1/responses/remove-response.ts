import { messagesFromJson } from '../../../domain/messages.ts'
import { type RunRecord, isOpenRun, runKey } from '../../../domain/records/run.ts'
import type { CheckpointRecord } from '../../../domain/records/thread.ts'
import type { ResponseFacts } from '../../../domain/responses/facts.ts'
import type { Caller } from '../../assistants/write-assistants.ts'
import type { BudgetCounting } from '../../budgets/counting.ts'
import type { Collections } from '../../collections.ts'
import type { DeletionResult } from '../../../domain/contracts/deletion.ts'
import type { Runs } from '../../runs/index.ts'
import type { EraseWhatWasSaid } from '../../threads/erase-what-was-said.ts'
import type { ResponseRun } from './response-run.ts'

export interface RemoveResponseDeps {
  collections: Pick<Collections, 'checkpoints' | 'feedback' | 'runs' | 'toolCalls'>
  budgetCounting: Pick<BudgetCounting, 'settleStored'>
  deletions: { deleteThread(userId: string, threadId: string): Promise<DeletionResult> }
  erase: EraseWhatWasSaid
  runs: Pick<Runs, 'cancel'>
}

/**
 * Deletes a response with what it has brought and answered. In a conversation its items stay. In a thread of several
 * responses, they stay as long as later responses go on from them. The last response of a thread takes the thread along.
 */
export function createRemoveResponse(deps: RemoveResponseDeps) {
  const { budgetCounting, deletions, erase } = deps
  const { checkpoints, feedback, runs, toolCalls } = deps.collections

  /** Deletes a run from a thread that stays. */
  async function eraseRun({ projectId }: Caller, run: RunRecord): Promise<void> {
    const ofRun = { run_id: run._id, thread_id: run.thread_id }
    const entries = await checkpoints.find(ofRun).lean<CheckpointRecord[]>()
    const said = entries.flatMap((entry) => messagesFromJson(entry.messages_json))
    const thread = { _id: run.thread_id, user_id: run.user_id, project_id: projectId }
    await erase(thread, { messageIds: [...new Set(said.map(({ data }) => data.id))] })
    await feedback.deleteMany(ofRun)
    await toolCalls.deleteMany(ofRun)
    await budgetCounting.settleStored(run)
    await runs.deleteOne(runKey(run))
  }

  /** Deletes the removed responses at the end of a thread: nothing goes on from them. */
  async function eraseEnd(caller: Caller, threadId: string): Promise<void> {
    for (;;) {
      const newest = await runs.findOne({ thread_id: threadId }).sort({ _id: -1 }).lean<RunRecord>()
      if (newest?.response_removed !== true) return
      await eraseRun(caller, newest)
    }
  }

  return async (caller: Caller, { run, facts }: ResponseRun): Promise<DeletionResult | undefined> => {
    const others = { thread_id: run.thread_id, _id: { $ne: run._id }, response_json: { $exists: true } }
    const isOfConversation = facts.conversation_id !== undefined
    const isShared = async () => isOfConversation || (await runs.exists(others)) !== null
    if (await isShared()) {
      if (isOpenRun(run)) await deps.runs.cancel(run)
      await runs.updateOne(
        { ...runKey(run), user_id: caller.userId },
        isOfConversation
          ? { $set: { response_json: JSON.stringify(keptFacts(facts)), response_removed: true } }
          : { $unset: { response_json: 1 }, $set: { response_removed: true } },
      )
      if (isOfConversation) return undefined
      // The others may have been deleted at the same time.
      if (await isShared()) {
        await eraseEnd(caller, run.thread_id)
        return undefined
      }
    }
    return deletions.deleteThread(caller.userId, run.thread_id)
  }
}

/** What says how the items are shown that stay in a conversation. */
function keptFacts({
  model,
  conversation_id,
  context,
  functions,
  shapes,
  serverLabels,
  approvals,
  approved,
}: ResponseFacts): ResponseFacts {
  return {
    model,
    ...(conversation_id === undefined ? {} : { conversation_id }),
    context,
    functions,
    ...(shapes === undefined ? {} : { shapes }),
    serverLabels,
    ...(approvals === undefined ? {} : { approvals }),
    ...(approved === undefined ? {} : { approved }),
    shown: {},
  }
}
