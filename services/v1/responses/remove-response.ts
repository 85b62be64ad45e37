import type { DeletionResult } from '../../../domain/contracts/deletion.ts'
import { messagesFromJson } from '../../../domain/messages.ts'
import { type RunRecord, isOpenRun } from '../../../domain/records/run.ts'
import type { ResponseFacts } from '../../../domain/responses/facts.ts'
import type { BudgetCounting } from '../../budgets/counting.ts'
import type { Collections } from '../../collections.ts'
import type { Caller } from '../../owner.ts'
import type { Runs } from '../../runs/index.ts'
import { feedbackStore } from '../../stores/feedback.ts'
import { logStore } from '../../stores/log.ts'
import { runStore } from '../../stores/runs.ts'
import { toolCallStore } from '../../stores/tool-calls.ts'
import type { EraseWhatWasSaid } from '../../threads/erase-what-was-said.ts'
import { responseStore } from '../store.ts'
import type { ResponseRun } from './response-run.ts'

export interface RemoveResponseDeps {
  collections: Pick<Collections, 'checkpoints' | 'feedback' | 'runs' | 'toolCalls'>
  budgetCounting: Pick<BudgetCounting, 'finalizeStored'>
  deletions: { deleteThread(caller: Caller, threadId: string): Promise<DeletionResult> }
  erase: EraseWhatWasSaid
  runs: Pick<Runs, 'cancel'>
}

/**
 * Deletes a response with what it has brought and answered. In a conversation its items stay. In a thread of several
 * responses, they stay as long as later responses go on from them. The last response of a thread takes the thread along.
 */
export function createRemoveResponse(deps: RemoveResponseDeps) {
  const { budgetCounting, collections, deletions, erase } = deps
  const responses = responseStore(collections)

  /** Deletes a run from a thread that stays. */
  async function eraseRun({ projectId }: Caller, run: RunRecord): Promise<void> {
    const entries = await logStore(collections).listOfRun(run)
    const said = entries.flatMap((entry) => messagesFromJson(entry.messages_json))
    const thread = { _id: run.thread_id, user_id: run.user_id, project_id: projectId }
    await erase(thread, { messageIds: [...new Set(said.map(({ data }) => data.id))] })
    await feedbackStore(collections).removeOfRun(run)
    await toolCallStore(collections).removeOfRun(run)
    await budgetCounting.finalizeStored(run)
    await runStore(collections).remove(run)
  }

  /** Deletes the removed responses at the end of a thread: nothing goes on from them. */
  async function eraseEnd(caller: Caller, threadId: string): Promise<void> {
    for (;;) {
      const newest = await responses.newestInThread(threadId)
      if (newest?.response_removed !== true) return
      await eraseRun(caller, newest)
    }
  }

  return async (caller: Caller, { run, facts }: ResponseRun): Promise<DeletionResult | undefined> => {
    const isOfConversation = facts.conversation_id !== undefined
    const isShared = async () => isOfConversation || responses.hasOthers(run)
    if (await isShared()) {
      if (isOpenRun(run)) await deps.runs.cancel(run)
      const left = isOfConversation ? JSON.stringify(retainedFacts(facts)) : undefined
      await responses.noteRemoved(caller.userId, run, left)
      if (isOfConversation) return undefined
      // The others may have been deleted at the same time.
      if (await isShared()) {
        await eraseEnd(caller, run.thread_id)
        return undefined
      }
    }
    return deletions.deleteThread(caller, run.thread_id)
  }
}

/** What says how the items are shown that stay in a conversation. */
function retainedFacts({
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
