import { activityInfo, cancellationSignal } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import type { SuggestionInput, SuggestionOutcome } from '../../domain/contracts/suggestion.ts'
import {
  type AnswerResult,
  type ClientTurnResult,
  type FinalizeInput,
  type FinalizeResult,
  type OnThread,
  type StepInput,
  type StepQueued,
  type StepResult,
  type ToolInput,
  type ToolOutcome,
  supersededType,
  threadIdOf,
} from '../../domain/contracts/thread.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import { type Steps, AnswerNotStoredError, RunLimitError, SupersededError } from '../../services/runs/steps.ts'
import type { ToolCalls } from '../../services/runs/tool-calls.ts'
import { durable } from '../durable.ts'

export type RunSteps = Pick<Steps, 'execute' | 'clientTurn' | 'finalize'> & ToolCalls

/** What happens after runs. */
export interface SuggestionDeps {
  suggest(input: SuggestionInput, by: { attempt: number; signal: AbortSignal }): Promise<SuggestionOutcome>
}

/** The steps of a run as Temporal activities. `default` executes every tool, whatever its name. */
export function createRunActivities(steps: RunSteps, { suggest }: SuggestionDeps) {
  return {
    modelStep: step((input: OnThread<StepInput>): Promise<StepResult | StepQueued> =>
      steps.execute(input, cancellationSignal()),
    ),
    clientTurn: step((input: OnThread<StepInput>): Promise<ClientTurnResult> => steps.clientTurn(input)),
    settleRun: step((input: OnThread<FinalizeInput>): Promise<FinalizeResult> =>
      steps.finalize(input, { endAnyway: activityInfo().attempt >= endAnywayFrom }),
    ),
    finishCall: step((input: OnThread<ToolInput>): Promise<AnswerResult> => steps.finishCall(input)),
    suggest: durable(
      (input: SuggestionInput): Promise<SuggestionOutcome> =>
        suggest(input, { attempt: activityInfo().attempt, signal: cancellationSignal() }),
      asFailure,
    ),
    default: step((input: OnThread<ToolInput>): Promise<ToolOutcome> =>
      steps.callTool(input, { attempt: attemptName(), signal: cancellationSignal(), deadline: deadline() }),
    ),
  }
}

/** From this attempt on, a run is ended even if its thread cannot be left consistent. */
const endAnywayFrom = 4

const step = <Input, Output>(work: (input: OnThread<Input>) => Promise<Output>) =>
  durable(
    (input: Input) => work({ ...input, threadId: threadIdOf(activityInfo().workflowExecution?.workflowId ?? '') }),
    asFailure,
  )

function asFailure(error: unknown): unknown {
  // Another attempt has the run, or it was cancelled: there is nothing left to do here.
  if (error instanceof SupersededError) return ApplicationFailure.nonRetryable(error.message, supersededType)
  if (error instanceof AnswerNotStoredError) return ApplicationFailure.nonRetryable(error.message, 'internal')
  if (error instanceof RunLimitError)
    return ApplicationFailure.create({
      message: error.message,
      type: error.type,
      nonRetryable: true,
      details: [422, ''],
    })
  if (!(error instanceof ModelFailure)) return error
  return ApplicationFailure.create({
    message: error.message,
    type: error.type,
    nonRetryable: !error.retryable,
    // The workflow retries local activities; of a failure it sees only the details.
    details: [error.statusCode, error.details, ...(error.retryAfterMs === undefined ? [] : [error.retryAfterMs])],
    ...(error.retryAfterMs === undefined ? {} : { nextRetryDelay: error.retryAfterMs }),
  })
}

/** The name of this attempt of this execution, to which a claim in the ledger is bound. */
function attemptName(): string {
  const { workflowExecution, activityId, attempt } = activityInfo()
  return `${workflowExecution?.runId}/${activityId}/${attempt}`
}

/** When the time of the run is over: the workflow ends the activity with it. */
function deadline(): Date | undefined {
  const { scheduledTimestampMs, scheduleToCloseTimeoutMs } = activityInfo()
  return scheduleToCloseTimeoutMs > 0 ? new Date(scheduledTimestampMs + scheduleToCloseTimeoutMs) : undefined
}
