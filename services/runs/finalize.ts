import {
  type FinalizeInput,
  type FinalizeResult,
  type OnThread,
  answerEntry,
  inputEntry,
  toolsEntry,
} from '../../domain/contracts/thread.ts'
import { isNotFound } from '../../domain/errors.ts'
import { laterId, zeroId } from '../../domain/ids.ts'
import { messagesFromJson } from '../../domain/messages.ts'
import { isModelFailureType } from '../../domain/model-failure.ts'
import { type RunError, type RunRecord, isOpenRun } from '../../domain/records/run.ts'
import { type RunView, toMessage } from '../../domain/run-events.ts'
import { usageByModel, usageOfEnded } from '../budgets/usage.ts'
import type { Collections } from '../collections.ts'
import { logStore } from '../stores/log.ts'
import { runStore } from '../stores/runs.ts'
import { inputEntryOf } from '../threads/log.ts'
import { answerIdOf } from './answer.ts'
import { publishedSoFar, storeLostAttempt } from './attempts.ts'
import { type CancelRunDeps, cancelRun, cancelledError, endRun, notStartedError } from './end-run.ts'
import { toolMessages } from './ledger.ts'
import type { StepDeps } from './step-deps.ts'
import { delegatedRunStore, executedRunStore, ledgerStore, sweptRunStore } from './store.ts'

/**
 * Ends a run that did not end by itself, and leaves its thread consistent: the partial answer stays in the log,
 * marked as incomplete, and every call has a result. Safe to repeat. With `endAnyway`, parts that cannot be stored
 * are reported and left out, so that a run whose records cannot be read still ends.
 */
export async function finalizeRun(
  deps: StepDeps,
  { threadId, runId, step, outcome, error, neverBegan = false, ifInterrupted = false }: OnThread<FinalizeInput>,
  { endAnyway = false } = {},
): Promise<FinalizeResult> {
  const key = { _id: runId, thread_id: threadId }
  if (ifInterrupted && error !== undefined) await endRun(deps, key, error, { only: 'expiring' })
  const run = await runStore(deps.collections).findInThread(key)
  if (run === null) return { status: outcome }
  if (ifInterrupted && isOpenRun(run)) return { status: run.status }
  if (run.status === 'success') {
    await deps.budgetCounting.recordCost(run).catch(deps.onError)
    await endChecks(deps, run)
    return { status: run.status }
  }
  await endChildRuns(deps, runId)
  const published = await publishedSoFar(deps, runId)
  // The workflow does not know of a first step whose workflow task was lost with its worker.
  const mayHaveBegun = run.started_at !== undefined && error !== notStartedError
  const hasBegun = !neverBegan || mayHaveBegun || published.messages.size > 0
  const parts = hasBegun ? [closeCalls, keepAnswerSoFar, completeRecord] : []
  for (const part of parts) {
    try {
      await part(deps, run, step, published)
    } catch (cause) {
      // If the thread is gone, there is nothing to store.
      if (isNotFound(cause)) continue
      if (!endAnyway) throw cause
      deps.onError(cause)
    }
  }
  const failed = { status_code: 500, message: 'The run failed.', type: 'internal_error', details: '' } as const
  if (!isOpenRun(run)) {
    await deps.budgetCounting.finalizeStored(run).catch(deps.onError)
    await endChecks(deps, run)
    return { status: run.status }
  }
  const ended = await endRun(deps, key, outcome === 'cancelled' ? cancelledError : withDetails(error ?? failed, run), {
    isFinalized: true,
    ...(error === notStartedError ? { only: 'unbegun' } : {}),
  })
  // Otherwise another process has just ended it.
  const now = ended ?? (await runStore(deps.collections).findInThread(key))
  if (now !== null) await deps.budgetCounting.recordCost(now).catch(deps.onError)
  return { status: now?.status ?? outcome }
}

/** The sweep checks a run that has ended until it is settled. */
async function endChecks({ collections }: StepDeps, run: RunRecord): Promise<void> {
  if (run.check_at !== undefined) await sweptRunStore(collections).endChecks(run)
}

/** What the model server said is stored with the run; no workflow carries it. */
function withDetails(error: RunError, { failure_details: details = '' }: RunRecord): RunError {
  return isModelFailureType(error.type) && error.details === '' ? { ...error, details } : error
}

/** Ends a run that no workflow works on any more. The stored records tell how far it had come. */
export async function finalizeLostRun(deps: StepDeps, run: RunRecord, error: RunError): Promise<void> {
  const last = await ledgerStore(deps.collections).findLast(run._id)
  const input = {
    threadId: run.thread_id,
    runId: run._id,
    step: last === null ? 0 : last.step + 1,
    outcome: 'error' as const,
    error,
    neverBegan: true,
  }
  await finalizeRun(deps, input, { endAnyway: true })
}

/**
 * Stores the tokens of the steps and attempts so far, however the run ended, and publishes what late readers have not
 * received.
 */
async function completeRecord(deps: StepDeps, run: RunRecord, step: number, published: RunView) {
  const { collections } = deps
  // The message itself has the tokens of a stored answer, although readers may not have been told that it is whole.
  const isStored = ((await ledgerStore(collections).findLast(run._id))?.step ?? -1) >= step
  const counted = isStored ? run : await storeLostAttempt(deps, run, { step, view: published })
  const usages = await usageByModel(collections, counted)
  const lastChange = [...published.messages.values()].map(({ changedAt }) => changedAt).reduce(laterId, zeroId)
  const changes = { ...usageOfEnded(run, usages), ...(lastChange !== zeroId && { last_data_event_id: lastChange }) }
  if (Object.keys(changes).length > 0) await executedRunStore(collections).completeRecord(run, changes)
}

/**
 * Keeps what readers have received of the unfinished answer. Calls in it were never executed, so only the text is
 * kept. The input of a run that ends in its first step is stored here.
 */
async function keepAnswerSoFar(deps: StepDeps, run: RunRecord, step: number, published: RunView): Promise<void> {
  const folded = published.messages.get(answerIdOf(run._id, step))
  const content = folded === undefined ? '' : toMessage(folded).data.content
  const entry = answerEntry(step)
  if ((content === '' && step > 0) || (await logStore(deps.collections).hasStep(run.thread_id, run._id, entry))) return
  const shared = { runId: run._id, pastLimit: true }
  await deps.log.append(
    run.thread_id,
    content === ''
      ? { ...shared, messages: messagesFromJson(run.input_json), source: 'input', step: inputEntry }
      : {
          ...shared,
          messages: [{ type: 'AIMessage', data: { id: answerIdOf(run._id, step), content, incomplete: true } }],
          source: 'step',
          step: entry,
          input: step === 0 ? inputEntryOf(run) : undefined,
        },
  )
}

async function closeCalls(deps: StepDeps, run: RunRecord): Promise<void> {
  const last = await ledgerStore(deps.collections).findLast(run._id)
  if (last === null || (await logStore(deps.collections).hasStep(run.thread_id, run._id, toolsEntry(last.step)))) return
  const messages = await toolMessages(deps.collections, { runId: run._id, step: last.step, notBegun: notMade })
  await deps.log.append(run.thread_id, {
    messages,
    source: 'tools',
    runId: run._id,
    step: toolsEntry(last.step),
    pastLimit: true,
  })
}

const notMade = 'This call was not made: the run ended first.'

/**
 * Cancels the runs that answer calls of a run, which the calls name. Each cancels those below it when it is settled.
 * Safe to repeat.
 */
async function endChildRuns(
  deps: CancelRunDeps & { collections: Pick<Collections, 'toolCalls'> },
  parentRunId: string,
): Promise<void> {
  const childRuns = await ledgerStore(deps.collections).listChildRuns(parentRunId)
  if (childRuns.length === 0) return
  for (const run of await delegatedRunStore(deps.collections).listOpen(childRuns)) await cancelRun(deps, run)
}
