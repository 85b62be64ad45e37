import { type SettleInput, answerEntry, toolsEntry } from '../../domain/contracts/thread.ts'
import type { AIMessage } from '../../domain/messages.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ToolCallRecord } from '../../domain/records/tool-call.ts'
import { applyEntries, emptyView, shownMessage } from '../../domain/run-events.ts'
import { cancelledError, endRun } from '../runs/end-run.ts'
import type { EngineDeps } from './deps.ts'
import { toolMessages } from './ledger.ts'
import { answerIdOf } from './model-step.ts'
import { usageOf } from './usage.ts'

/**
 * Ends a run that did not end by itself, and leaves its thread in order: what the model had said
 * stays in the history, marked as incomplete, and every call has an answer. Safe to repeat.
 */
export async function settleRun(deps: EngineDeps, { runId, step, outcome, error }: SettleInput): Promise<void> {
  const run = await deps.collections.runs.findById(runId).lean<RunRecord>()
  if (run === null || run.status === 'success') return
  await closeCalls(deps, run)
  await keepPartialAnswer(deps, run, step)
  // What the steps before cost is counted, however the run ended.
  const usage = await usageOf(deps.collections, runId)
  if (usage) await deps.collections.runs.updateOne({ _id: runId }, { $set: { usage } })
  const failed = { status_code: 500, message: 'The run failed.', type: 'internal_error', details: '' }
  await endRun(deps, runId, outcome === 'cancelled' ? cancelledError : (error ?? failed))
}

async function keepPartialAnswer(deps: EngineDeps, run: RunRecord, step: number): Promise<void> {
  const entry = answerEntry(step)
  if (await deps.collections.checkpoints.exists({ run_id: run._id, step: entry })) return
  const message = await partialAnswer(deps, run._id, step)
  if (message === undefined) return
  await deps.log.append(run.thread_id, { messages: [message], source: 'step', runId: run._id, step: entry })
}

/** What readers have seen of the answer under way. Calls in it were never made, so that only the text is kept. */
async function partialAnswer(
  { stream, onError }: EngineDeps,
  runId: string,
  step: number,
): Promise<AIMessage | undefined> {
  const batches = await stream.read(runId).catch((error: unknown) => {
    onError(error)
    return []
  })
  const view = emptyView()
  for (const { id, entries } of batches) applyEntries(view, id, entries)
  const folded = view.messages.get(answerIdOf(runId, step))
  const content = folded === undefined ? '' : shownMessage(folded).data.content
  return content === ''
    ? undefined
    : { type: 'AIMessage', data: { id: answerIdOf(runId, step), content, incomplete: true } }
}

async function closeCalls(deps: EngineDeps, run: RunRecord): Promise<void> {
  const { toolCalls, checkpoints } = deps.collections
  const last = await toolCalls.findOne({ run_id: run._id }).sort({ step: -1 }).lean<ToolCallRecord>()
  if (last === null || (await checkpoints.exists({ run_id: run._id, step: toolsEntry(last.step) }))) return
  const messages = await toolMessages(deps.collections, { runId: run._id, step: last.step, notBegun: notMade })
  await deps.log.append(run.thread_id, {
    messages,
    source: 'tools',
    runId: run._id,
    step: toolsEntry(last.step),
  })
}

const notMade = 'This call was not made: the run ended first.'
