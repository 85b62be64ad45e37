// Before a change: docs/traps.md, Temporal.
import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  ParentClosePolicy,
  allHandlersFinished,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  log,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  startChild,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow'
import type { createRunActivities } from '../activities/runs/index.ts'
import { suggestionContract } from '../domain/contracts/suggestion.ts'
import {
  type CarriedRun,
  type EnqueueRun,
  type PlannedCall,
  type PlannedTools,
  type RunOwners,
  type FinalizeInput,
  type ThreadResult,
  threadBusyType,
  threadContract,
  threadIdOf,
} from '../domain/contracts/thread.ts'
import { type WorkflowOf, searchAttributePairs, startOptions } from '../domain/contracts/workflow-contract.ts'
import type { RunStatus } from '../domain/records/run.ts'
import {
  expiredError,
  extendTimeLimit,
  finalizePolicy,
  isTimeOver,
  localModelStep,
  newTimeLimit,
  outcomeOf,
  runTools,
  stepLimitReached,
  timeLimitReached,
} from './run-steps.ts'
import type { suggestionWorkflow } from './suggestion.ts'
import { ThreadQueue } from './thread-queue.ts'

const { signals, updates } = threadContract

type RunActivities = ReturnType<typeof createRunActivities>

const { settleRun, clientTurn } = proxyActivities<Pick<RunActivities, 'settleRun' | 'clientTurn'>>(finalizePolicy)

interface CurrentRun {
  run: CarriedRun
  scope: CancellationScope
}

/**
 * The actor of one conversation. The first run comes with the start, later ones by signal; they are executed one at
 * a time, in order. The workflow ends when no run waits, and the next run starts it again, so that its history
 * stays small. A thread that is never idle continues as new when the server suggests it. When the workflow itself
 * is cancelled, it settles all its runs as cancelled before it ends.
 */
export const threadWorkflow: WorkflowOf<typeof threadContract> = async (input) => {
  const { threadId, carried, run: first } = input
  // Before the handlers, because the first signals may concern its run.
  const queue = new ThreadQueue<CurrentRun>(carried, first, carried?.current && begin(carried.current))
  const result: ThreadResult = carried?.result ?? { threadId, ended: {} }
  const noteEnd = (runId: string, status: RunStatus) => {
    result.ended[status] = (result.ended[status] ?? 0) + 1
    result.lastRunId = runId
  }
  const showStatus = statusDisplay(first?.runId)

  setHandler(signals.enqueueRun, (run) => queue.enqueue(run))
  setHandler(signals.cancelRun, ({ runId }) => queue.cancel(runId))
  setHandler(signals.resumeRun, ({ runId, step }) => queue.change(runId, (run) => (run.resumedStep = step)))
  setHandler(signals.slotFree, ({ runId }) => queue.change(runId, (run) => (run.isSlotFree = true)))
  setHandler(signals.askedRunChanged, ({ runId, askedRunId }) =>
    queue.change(runId, (run) => (run.changedRuns = [...new Set([...(run.changedRuns ?? []), askedRunId])])),
  )
  const refuseWhenBusy = ({ runId }: EnqueueRun) => {
    if (queue.isBusyFor(runId)) throw ApplicationFailure.nonRetryable('Another run has the thread.', threadBusyType)
  }
  setHandler(updates.tryEnqueueRun, (run) => queue.enqueue(run), { validator: refuseWhenBusy })
  CancellationScope.current().cancelRequested.catch(() => queue.close())

  await CancellationScope.nonCancellable(async () => {
    if (queue.current) await execute(queue.current)
    for (let next = queue.next(); next !== undefined; next = queue.next()) {
      const { runId, maxDurationMs, askedBy } = next.run
      if (next.isCancelled) {
        noteEnd(runId, await finalize({ runId, step: 0, outcome: 'cancelled', neverBegan: true }))
        await notifyParentRun(next.run)
      } else await execute(begin({ runId, step: 0, ...newTimeLimit(maxDurationMs), ...(askedBy && { askedBy }) }))
      if (!queue.isEmpty && !queue.isClosed && shouldContinueAsNew()) await goOnAsNew()
    }
  })
  setCurrentDetails(`Ended: ${describe(result)}. The next run of the thread starts another execution.`)
  if (queue.isClosed) throw new CancelledFailure('The workflow was cancelled; its runs are settled.')
  return result

  async function execute(started: CurrentRun): Promise<void> {
    const { runId } = started.run
    queue.begin(started)
    showStatus(runId, 'running')
    const status = await executeRun(started, showStatus)
    if (status === 'carried') return goOnAsNew()
    noteEnd(runId, status)
    showStatus(runId, status)
    await notifyParentRun(started.run)
    queue.current = undefined
    await condition(allHandlersFinished)
  }

  async function goOnAsNew(): Promise<never> {
    await condition(allHandlersFinished)
    const state = { ...queue.state(queue.current?.scope.consideredCancelled === true), result }
    return continueAsNew<typeof threadWorkflow>({ threadId, carried: state })
  }
}

function begin(run: CarriedRun): CurrentRun {
  return { run, scope: new CancellationScope() }
}

const shouldContinueAsNew = () => workflowInfo().continueAsNewSuggested

/**
 * Executes model steps and tool calls until the run has ended, or continues as new. A run that fails or is
 * cancelled is settled, so that the thread can continue.
 */
async function executeRun({ run, scope }: CurrentRun, showStatus: ShowStatus): Promise<RunStatus | 'carried'> {
  const { runId } = run
  try {
    return await scope.run(async () => {
      for (;;) {
        const planned = run.undecided ?? (await planTools(run))
        if ('status' in planned) return planned.status
        const { calls, maxSteps, parallelCalls } = planned
        if (run.undecided) {
          setCurrentDetails(`Run ${runId}: waits for ${waitsFor(calls)}`)
          showStatus(runId, 'interrupted')
          await notifyParentRun(run)
          const waited = await waitUntilResumed(run, run.undecided)
          if (waited !== 'resumed') return waited
          showStatus(runId, 'running')
          run.undecided = undefined
        }
        setCurrentDetails(`Run ${runId}: tools ${namesOf(calls)}`)
        await runTools(run, calls, parallelCalls)
        if (planned.clientTurn) {
          if (isTimeOver(run)) throw timeLimitReached(run)
          const { status } = await clientTurn({ runId, step: run.step })
          if (status === 'interrupted') {
            run.undecided = undecidedOf({ ...planned, calls: [], clientTurn: false })
            continue
          }
          if (status !== 'running') return status
        }
        run.step += 1
        if (run.step >= maxSteps) throw stepLimitReached(maxSteps)
        if (!scope.consideredCancelled && shouldContinueAsNew()) return 'carried'
      }
    })
  } catch (error) {
    return finalize({ runId, step: run.step, ...outcomeOf(error, run) })
  }
}

/** One model step. Calls that need a person's decision are recorded as undecided. */
async function planTools(run: CarriedRun): Promise<PlannedTools | { status: RunStatus }> {
  const result = await localModelStep(run)
  if (result.next === 'done') {
    if (result.suggests) await startSuggestion(run.runId, result.suggests)
    return { status: result.status ?? 'success' }
  }
  const { next: _, approval, ...planned } = result
  if (approval) run.undecided = undecidedOf(planned)
  return planned
}

/** Lets the small model be asked, by a workflow of its own. The run has ended: nothing here changes how. */
async function startSuggestion(runId: string, owners: RunOwners): Promise<void> {
  const threadId = threadIdOf(workflowInfo().workflowId)
  try {
    await CancellationScope.nonCancellable(() =>
      startChild<typeof suggestionWorkflow>(suggestionContract.type.name, {
        ...startOptions(suggestionContract, { threadId, runId, ...owners }),
        parentClosePolicy: ParentClosePolicy.ABANDON,
      }),
    )
  } catch (error) {
    // It was started by an earlier attempt of the last step.
    log.info('No suggestions were asked for.', { runId, error })
  }
}

type Undecided = NonNullable<CarriedRun['undecided']>

function undecidedOf(planned: PlannedTools): Undecided {
  const { expiresAfterMs } = planned
  return expiresAfterMs === undefined ? planned : { ...planned, expiresAtMs: Date.now() + expiresAfterMs }
}

/**
 * Waits until all calls of the step are decided about and answered. Only a run that waits for its client expires: it
 * ends, unless the client has answered.
 */
async function waitUntilResumed(run: CarriedRun, undecided: Undecided): Promise<RunStatus | 'carried' | 'resumed'> {
  const { runId, step } = run
  const isResumed = () => run.resumedStep === step
  const waitsSince = Date.now()
  try {
    for (;;) {
      const { expiresAtMs } = undecided
      const isOver = () => isResumed() || shouldContinueAsNew()
      if (expiresAtMs === undefined) await condition(isOver)
      else if (!(await condition(isOver, Math.max(1, expiresAtMs - Date.now())))) {
        const status = await finalize({ runId, step, outcome: 'error', error: expiredError, ifInterrupted: true })
        if (status !== 'running' && status !== 'interrupted') return status
        // The client has answered: people have not yet, or the signal that resumes the run is on its way.
        delete undecided.expiresAtMs
        continue
      }
      return isResumed() ? 'resumed' : 'carried'
    }
  } finally {
    extendTimeLimit(run, Date.now() - waitsSince)
  }
}

/**
 * Ends a run that did not end by itself. If it cannot be ended, the sweep of open runs ends it later, and the
 * thread continues.
 */
async function finalize(input: FinalizeInput): Promise<RunStatus> {
  try {
    const { status } = await CancellationScope.nonCancellable(() => settleRun(input))
    return status
  } catch (error) {
    log.error('A run could not be ended.', { runId: input.runId, error })
    return input.outcome
  }
}

/**
 * Tells the thread of the run that waits for this one, if there is one. That thread looks by itself, too, so that nothing
 * depends on the signal.
 */
async function notifyParentRun({ runId: askedRunId, askedBy }: Pick<EnqueueRun, 'runId' | 'askedBy'>): Promise<void> {
  if (askedBy === undefined) return
  const { threadId, runId } = askedBy
  try {
    await CancellationScope.nonCancellable(() =>
      getExternalWorkflowHandle(threadContract.id({ threadId })).signal(signals.askedRunChanged, { runId, askedRunId }),
    )
  } catch {
    // The run that asked has ended.
  }
}

type ShowStatus = ReturnType<typeof statusDisplay>

/**
 * Search attributes for operators. The run that started the execution is among the attributes of the start, so
 * nothing is written while it works or when it succeeds; other states are written.
 */
function statusDisplay(startedWith: string | undefined) {
  let isPlain = true
  return (runId: string, status: RunStatus): void => {
    if (isPlain && runId === startedWith && (status === 'running' || status === 'success')) return
    isPlain = false
    upsertSearchAttributes(searchAttributePairs({ AgentRunId: runId, RunStatus: status }))
  }
}

/** Such as `2 runs success, 1 error; the last is ID`. */
function describe({ ended, lastRunId }: ThreadResult): string {
  const counts = Object.entries(ended).map(([status, count]) => `${count} ${status}`)
  return lastRunId === undefined ? 'no run' : `runs: ${counts.join(', ')}; the last is ${lastRunId}`
}

function waitsFor(calls: PlannedCall[]): string {
  return calls.length === 0 ? "its client's results" : `a person's decision about ${namesOf(calls)}`
}

function namesOf(calls: PlannedCall[]): string {
  return calls.map((call) => call.name).join(', ')
}
