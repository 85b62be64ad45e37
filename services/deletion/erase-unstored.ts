import { type RunRecord, isOpenRun } from '../../domain/records/run.ts'
import type { BudgetCounting } from '../budgets/counting.ts'
import type { Collections } from '../collections.ts'
import type { RunStream } from '../runs/run-stream.ts'
import { startThreadDeletion } from '../threads/start-thread-deletion.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import { unstoredStore } from './store.ts'

interface EraseUnstoredDeps {
  collections: Pick<Collections, 'threads' | 'runs' | 'checkpoints' | 'toolCalls' | 'attachments' | 'feedback'>
  transaction: RunInTransaction
  budgetCounting: Pick<BudgetCounting, 'finalizeStored'>
  stream: Pick<RunStream, 'erase' | 'forgetThreads'>
  workflows: Pick<WorkflowClient, 'start'>
}

type UnstoredRun = Pick<RunRecord, 'thread_id' | 'user_id' | 'project_id'>

export type EraseUnstored = ReturnType<typeof createEraseUnstored>

/**
 * Erases the thread of an answer that is not to be stored, in one transaction: nobody else has known it, so it needs no
 * receipt. A thread whose run goes on, or has asked other assistants, is left to the workflow of deletions.
 */
export function createEraseUnstored({
  collections,
  transaction,
  budgetCounting,
  stream,
  workflows,
}: EraseUnstoredDeps) {
  const store = unstoredStore(collections)

  /** `isOver`: the caller has seen the end of the answer. */
  return async (run: UnstoredRun, { isOver }: { isOver: boolean }): Promise<void> => {
    if (isOver && (await eraseAtOnce(run.thread_id))) return
    await startThreadDeletion(workflows, { ...run, _id: run.thread_id })
  }

  /** False if the thread stays. */
  async function eraseAtOnce(threadId: string): Promise<boolean> {
    const ended = await store.listRuns(threadId)
    if (ended.some(isOpenRun) || (await store.hasDelegated(threadId))) return false
    // Its workflow may not have counted the cost yet.
    for (const run of ended) await budgetCounting.finalizeStored(run)
    // First, because nobody would find them without the runs. Fences stay for as long as streams do, so that no attempt
    // that was taken over writes there again.
    await stream.erase(ended.map(({ _id }) => _id))
    if (!(await transaction((session) => store.erase(threadId, session)))) return false
    await stream.forgetThreads([threadId])
    return true
  }
}
