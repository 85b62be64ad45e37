import type { AnswerResult, OnThread, ToolInput } from '../../../domain/contracts/thread.ts'
import { passagesFor } from '../../../domain/knowledge/passed-passages.ts'
import { publicRunError } from '../../../domain/public-run-error.ts'
import { type RunKey, type RunRecord, isOpenRun } from '../../../domain/records/run.ts'
import {
  type ChildRunKey,
  type CallResult,
  type ToolCallRecord,
  toolCallKey,
} from '../../../domain/records/tool-call.ts'
import type { Collections } from '../../collections.ts'
import { assistantStore } from '../../stores/assistants.ts'
import { runStore } from '../../stores/runs.ts'
import { limitText } from '../../tool-text.ts'
import { type CancelRunDeps, cancelRun } from '../end-run.ts'
import type { Runs } from '../index.ts'
import { ledgerStore } from '../store.ts'

export interface FinishCallDeps extends CancelRunDeps {
  collections: Pick<Collections, 'runs' | 'threads' | 'assistants' | 'toolCalls'>
  runs: Pick<Runs, 'output'>
  /** Publishes the result to the readers of the asking run. */
  publishResult(run: RunKey, call: ToolCallRecord): Promise<void>
}

/** Stores the answer of an asked run as the result of the call, once that run is over. Safe to repeat. */
export function createFinishCall(deps: FinishCallDeps) {
  const { collections } = deps
  const ledger = ledgerStore(collections)

  return async ({ threadId, runId, step, index }: OnThread<ToolInput>): Promise<AnswerResult> => {
    const key = toolCallKey(runId, step, index)
    const call = await ledger.find(key)
    if (call === null) return { isOver: true }
    const result = call.status === 'done' ? undefined : await resultOf(call.asked)
    if (call.status !== 'done' && result === undefined) return { isOver: false }
    const closed = result && (await ledger.finish(key, result))
    await deps.publishResult({ _id: runId, thread_id: threadId }, closed ?? call)
    return { isOver: true }
  }

  /** Undefined while the run is under way. */
  async function resultOf(childRun: ChildRunKey | undefined): Promise<CallResult | undefined> {
    const run =
      childRun && (await runStore(collections).findInThread({ _id: childRun.run_id, thread_id: childRun.thread_id }))
    if (!run) return failure('The question was not answered: its conversation was deleted.')
    const name = (await assistantStore(collections).nameOfAny(run.assistant_id)) ?? 'the assistant'
    if (run.status === 'interrupted') {
      await cancelRun(deps, run)
      return failure(
        `The question was not answered: ${name} waits for a person's approval, which it cannot get when another assistant asks it.`,
      )
    }
    if (isOpenRun(run)) return undefined
    if (run.status === 'success') return { result: await answerOf(run) }
    const error = run.error && (run.public ? publicRunError(run.error) : run.error)
    const reason = run.status === 'cancelled' ? 'it was cancelled.' : (error?.message ?? 'it failed.')
    return failure(`The question was not answered by ${name}: ${reason}`)
  }

  async function answerOf(run: RunRecord): Promise<string> {
    const { messages } = await deps.runs.output(run)
    const last = messages.findLast((message) => message.type === 'AIMessage')
    const answer = last?.data.content || last?.data.refusal || ''
    const passages = passagesFor(answer, messages, run.assistant_id)
    return JSON.stringify({ answer: limitText(answer), ...(passages.length === 0 ? {} : { passages }) })
  }
}

const failure = (result: string): CallResult => ({ result, failed: true })
