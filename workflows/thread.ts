import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  TimeoutFailure,
  allHandlersFinished,
  condition,
  defineSignal,
  defineUpdate,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow'
import type { createRunActivities } from '../activities/runs/index.ts'
import { searchAttributes } from '../domain/contracts/search-attributes.ts'
import {
  type AboutRun,
  type EnqueueRun,
  type PlannedCall,
  type ResumeRun,
  type SettleInput,
  type ThreadWorkflowInput,
  type ToolInput,
  cancelRunSignalName,
  enqueueRunSignalName,
  resumeRunSignalName,
  supersededType,
  toolActivityPrefix,
  tryEnqueueRunUpdateName,
} from '../domain/contracts/thread.ts'
import { errorCodes, httpStatusOf } from '../domain/errors.ts'
import type { RunStatus } from '../domain/records/run.ts'
import { modelStepPolicy, settlePolicy, toolPolicy } from './activity-policies.ts'

export const enqueueRun = defineSignal<[EnqueueRun]>(enqueueRunSignalName)
export const cancelRun = defineSignal<[AboutRun]>(cancelRunSignalName)
export const resumeRun = defineSignal<[ResumeRun]>(resumeRunSignalName)
export const tryEnqueueRun = defineUpdate<boolean, [EnqueueRun]>(tryEnqueueRunUpdateName)

type RunActivities = ReturnType<typeof createRunActivities>

const { modelStep } = proxyActivities<Pick<RunActivities, 'modelStep'>>({
  ...modelStepPolicy,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
})
const { settleRun } = proxyActivities<Pick<RunActivities, 'settleRun'>>(settlePolicy)

interface CurrentRun {
  runId: string
  scope: CancellationScope
  /** The last step after which a person has let it go on. */
  resumedStep: number | undefined
}

/**
 * The actor of one conversation: runs arrive by signal-with-start and are done one at a time, in
 * order. It ends when none waits; the next run starts it anew, so that its history stays small.
 */
export async function threadWorkflow(_input: ThreadWorkflowInput): Promise<void> {
  const waiting: EnqueueRun[] = []
  const cancelled = new Set<string>()
  let current: CurrentRun | undefined

  const cancel = (runId: string) => {
    if (current?.runId === runId) current.scope.cancel()
    else if (waiting.some((run) => run.runId === runId)) cancelled.add(runId)
  }
  const enqueue = (run: EnqueueRun) => {
    if (current?.runId === run.runId || waiting.some((known) => known.runId === run.runId)) return
    if (run.strategy === 'interrupt') {
      for (const earlier of waiting) cancelled.add(earlier.runId)
      current?.scope.cancel()
    }
    waiting.push(run)
  }

  setHandler(enqueueRun, enqueue)
  setHandler(cancelRun, ({ runId }) => cancel(runId))
  setHandler(resumeRun, ({ runId, step }) => {
    if (current?.runId === runId) current.resumedStep = step
  })
  setHandler(tryEnqueueRun, (run) => {
    const known = current?.runId === run.runId || waiting.some((entry) => entry.runId === run.runId)
    if (!known && (current !== undefined || waiting.length > 0)) return false
    enqueue(run)
    return true
  })

  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { runId } = next
    if (cancelled.delete(runId)) {
      await settleRun({ runId, step: 0, outcome: 'cancelled' })
      continue
    }
    current = { runId, scope: new CancellationScope(), resumedStep: undefined }
    showStatus(runId, 'running')
    showStatus(runId, await executeRun(current))
    current = undefined
    await condition(allHandlersFinished)
  }
  setCurrentDetails('No run waits.')
}

/** Steps of the model and the tools that it asks for, until the run is over. What fails or is cancelled is settled, so that the thread can go on. */
async function executeRun(run: CurrentRun): Promise<RunStatus> {
  const { runId } = run
  let step = 0
  let limit = 1
  try {
    await run.scope.run(async () => {
      for (;;) {
        setCurrentDetails(`Run ${runId}: model step ${step + 1}`)
        const result = await modelStep({ runId, step })
        if (result.next === 'done') return
        limit = result.maxSteps
        if (result.approval) {
          setCurrentDetails(`Run ${runId}: waits for a person's decision about ${namesOf(result.calls)}`)
          showStatus(runId, 'interrupted')
          await condition(() => run.resumedStep === step)
          showStatus(runId, 'running')
        }
        setCurrentDetails(`Run ${runId}: tools ${namesOf(result.calls)}`)
        await Promise.all(result.calls.map((call) => runTool({ runId, step, index: call.index }, call)))
        step += 1
        if (step >= limit) throw stepLimitReached(limit)
      }
    })
    return 'success'
  } catch (error) {
    const settled = outcomeOf(error)
    await CancellationScope.nonCancellable(() => settleRun({ runId, step, ...settled }))
    return settled.outcome
  }
}

/** What an operator finds the workflow by. */
function showStatus(runId: string, status: RunStatus): void {
  upsertSearchAttributes([
    { key: searchAttributes.AgentRunId, value: runId },
    { key: searchAttributes.RunStatus, value: status },
  ])
}

/** Each tool is an activity of its own name, with its own limit. A tool that fails tells the model so; only a cancellation ends the run. */
async function runTool(input: ToolInput, call: PlannedCall): Promise<void> {
  const activityType = `${toolActivityPrefix}${call.name}`
  const tools = proxyActivities<Record<string, (input: ToolInput) => Promise<void>>>({
    ...toolPolicy(call),
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  })
  try {
    await tools[activityType]?.(input)
  } catch (error) {
    if (isCancellation(error)) throw error
    // The next step finds no result in the ledger and tells the model that there is none.
  }
}

function outcomeOf(error: unknown): Pick<SettleInput, 'outcome' | 'error'> {
  if (isCancellation(error)) return { outcome: 'cancelled' }
  const cause = error instanceof ActivityFailure ? error.cause : error
  if (cause instanceof TimeoutFailure) {
    return {
      outcome: 'error',
      error: { status_code: 504, message: 'The run took too long.', type: 'timeout', details: '' },
    }
  }
  if (cause instanceof ApplicationFailure && cause.type === supersededType) return { outcome: 'cancelled' }
  if (cause instanceof ApplicationFailure) {
    const [status, details] = cause.details ?? []
    const known = errorCodes.find((code) => code === cause.type)
    return {
      outcome: 'error',
      error: {
        status_code: typeof status === 'number' ? status : httpStatusOf[known ?? 'internal'],
        message: cause.message,
        type: cause.type ?? 'internal_error',
        details: typeof details === 'string' ? details : '',
      },
    }
  }
  return {
    outcome: 'error',
    error: { status_code: 500, message: 'The run failed.', type: 'internal_error', details: '' },
  }
}

function stepLimitReached(limit: number): ApplicationFailure {
  return ApplicationFailure.create({
    message: `The run reached its limit of ${limit} steps without a final answer.`,
    type: 'max_steps',
    nonRetryable: true,
    details: [422, `max_steps is ${limit}`],
  })
}

function namesOf(calls: PlannedCall[]): string {
  return calls.map((call) => call.name).join(', ')
}
