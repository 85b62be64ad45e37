// Before a change: docs/traps.md, Temporal.
import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  log,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow'
import type { createRunActivities } from '../activities/runs/index.ts'
import { searchAttributePairs } from '../domain/contracts/search-attributes.ts'
import {
  type CarriedRun,
  type EnqueueRun,
  type PlannedCall,
  type PlannedTools,
  type SettleInput,
  threadBusyType,
  threadContract,
} from '../domain/contracts/thread.ts'
import type { WorkflowOf } from '../domain/contracts/workflow-contract.ts'
import type { RunStatus } from '../domain/records/run.ts'
import { settlePolicy } from './thread-policies.ts'
import { localModelStep } from './local-model-step.ts'
import { expiredError, outcomeOf, stepLimitReached } from './run-outcome.ts'
import { runTools } from './run-tools.ts'
import { extendTimeLimit, isTimeOver, newTimeLimit, timeLimitReached } from './time-limit.ts'

const { signals, updates } = threadContract

type RunActivities = ReturnType<typeof createRunActivities>

const { settleRun, clientTurn } = proxyActivities<Pick<RunActivities, 'settleRun' | 'clientTurn'>>(settlePolicy)

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
  const waiting: EnqueueRun[] = [...(carried?.waiting ?? []), ...(first ? [first] : [])]
  const cancelled = new Set(carried?.cancelled)
  /** The newest run that interrupts others. Ids are time-ordered. */
  let interruptedBy = carried?.interruptedBy ?? (first?.strategy === 'interrupt' ? first.runId : undefined)
  // Before the handlers, because the first signals may concern it.
  let current = carried?.current && begin(carried.current)
  let isCancelled = false
  const showStatus = statusDisplay(first?.runId)

  const isKnown = (runId: string) => current?.run.runId === runId || waiting.some((run) => run.runId === runId)
  const isBusyFor = (runId: string) => !isKnown(runId) && (current !== undefined || waiting.length > 0)
  const cancel = (runId: string) => {
    if (current?.run.runId === runId) current.scope.cancel()
    else if (isKnown(runId)) cancelled.add(runId)
  }
  const cancelAll = () => {
    for (const { runId } of waiting) cancelled.add(runId)
    current?.scope.cancel()
  }
  const cancelOlder = (runId: string) => {
    for (const run of waiting) if (run.runId < runId) cancelled.add(run.runId)
    if (current && current.run.runId < runId) current.scope.cancel()
    if (interruptedBy === undefined || interruptedBy < runId) interruptedBy = runId
  }
  const enqueue = (run: EnqueueRun) => {
    const { runId } = run
    if (isKnown(runId)) return
    // Requests that are sent at once can arrive in another order than that of their ids.
    const newer = waiting.findIndex((other) => other.runId > runId)
    const isInterrupted = interruptedBy !== undefined && runId < interruptedBy
    if (run.strategy === 'interrupt') cancelOlder(runId)
    waiting.splice(newer === -1 ? waiting.length : newer, 0, run)
    if (isCancelled || isInterrupted) cancelled.add(runId)
  }

  setHandler(signals.enqueueRun, enqueue)
  setHandler(signals.cancelRun, ({ runId }) => cancel(runId))
  setHandler(signals.resumeRun, ({ runId, step }) => {
    if (current?.run.runId === runId) current.run.resumedStep = step
  })
  setHandler(signals.slotFree, ({ runId }) => {
    if (current?.run.runId === runId) current.run.isSlotFree = true
  })
  setHandler(signals.askedRunChanged, ({ runId, askedRunId }) => {
    if (current?.run.runId !== runId) return
    current.run.changedRuns = [...new Set([...(current.run.changedRuns ?? []), askedRunId])]
  })
  const refuseWhenBusy = ({ runId }: EnqueueRun) => {
    if (isBusyFor(runId)) throw ApplicationFailure.nonRetryable('Another run has the thread.', threadBusyType)
  }
  setHandler(updates.tryEnqueueRun, enqueue, { validator: refuseWhenBusy })
  CancellationScope.current().cancelRequested.catch(() => {
    isCancelled = true
    cancelAll()
  })

  await CancellationScope.nonCancellable(async () => {
    if (current) await execute(current)
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { runId, maxDurationMs, askedBy } = next
      if (cancelled.delete(runId)) {
        await settle({ runId, step: 0, outcome: 'cancelled', neverBegan: true })
        await tellAsker(next)
      } else await execute(begin({ runId, step: 0, ...newTimeLimit(maxDurationMs), ...(askedBy && { askedBy }) }))
      if (waiting.length > 0 && !isCancelled && shouldContinueAsNew()) await goOnAsNew()
    }
  })
  setCurrentDetails('No run is waiting.')
  if (isCancelled) throw new CancelledFailure('The workflow was cancelled; its runs are settled.')

  async function execute(started: CurrentRun): Promise<void> {
    const { runId } = started.run
    current = started
    if (cancelled.delete(runId)) started.scope.cancel()
    showStatus(runId, 'running')
    const status = await executeRun(started, showStatus)
    if (status === 'carried') return goOnAsNew()
    showStatus(runId, status)
    await tellAsker(started.run)
    current = undefined
    await condition(allHandlersFinished)
  }

  async function goOnAsNew(): Promise<never> {
    await condition(allHandlersFinished)
    if (current?.scope.consideredCancelled) cancelled.add(current.run.runId)
    const state = {
      waiting,
      cancelled: [...cancelled],
      ...(current === undefined ? {} : { current: current.run }),
      ...(interruptedBy === undefined ? {} : { interruptedBy }),
    }
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
          await tellAsker(run)
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
    return settle({ runId, step: run.step, ...outcomeOf(error, run) })
  }
}

/** One model step. Calls that need a person's decision are recorded as undecided. */
async function planTools(run: CarriedRun): Promise<PlannedTools | { status: RunStatus }> {
  const result = await localModelStep(run)
  if (result.next === 'done') return { status: result.status ?? 'success' }
  const { next: _, approval, ...planned } = result
  if (approval) run.undecided = undecidedOf(planned)
  return planned
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
        const status = await settle({ runId, step, outcome: 'error', error: expiredError, ifInterrupted: true })
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
async function settle(input: SettleInput): Promise<RunStatus> {
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
async function tellAsker({ runId: askedRunId, askedBy }: Pick<EnqueueRun, 'runId' | 'askedBy'>): Promise<void> {
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

function waitsFor(calls: PlannedCall[]): string {
  return calls.length === 0 ? "its client's results" : `a person's decision about ${namesOf(calls)}`
}

function namesOf(calls: PlannedCall[]): string {
  return calls.map((call) => call.name).join(', ')
}
