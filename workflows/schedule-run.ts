import {
  ActivityCancellationType,
  type ActivityOptions,
  CancellationScope,
  ParentClosePolicy,
  continueAsNew,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  sleep,
  startChild,
  workflowInfo,
} from '@temporalio/workflow'
import type { createScheduleActivities } from '../activities/schedules/index.ts'
import { backOffMs } from '../domain/back-off.ts'
import {
  type DueRun,
  type ScheduleRunInput,
  scheduleMailContract,
  type scheduleRunContract,
} from '../domain/contracts/schedule-run.ts'
import { type WorkflowOf, startOptions } from '../domain/contracts/workflow-contract.ts'
import { mailPolicy } from './account-policies.ts'

/**
 * A start takes a moment, and longer when a thousand are due. While a server is away it is tried for an hour: the run is
 * late then, and not lost. A dead worker is noticed within three seconds.
 */
const startPolicy: ActivityOptions = {
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: '1 hour',
  heartbeatTimeout: '3s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '30s' },
  // Whether a cancelled start has started the run must be known before the run is cancelled.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
}

/** A few statements of the database, which must succeed eventually. */
const recordPolicy: ActivityOptions = {
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '3s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '30s' },
}

const shortestPauseMs = 1000
const longestPauseMs = 30_000

type Activities = ReturnType<typeof createScheduleActivities>
const { startDueRun } = proxyActivities<Pick<Activities, 'startDueRun'>>(startPolicy)
const { finishDueRun, giveUpDueRun, cancelDueRun } =
  proxyActivities<Pick<Activities, 'finishDueRun' | 'giveUpDueRun' | 'cancelDueRun'>>(recordPolicy)
const { mailDueRun } = proxyActivities<Pick<Activities, 'mailDueRun'>>(mailPolicy)
const { lookAtRun } = proxyLocalActivities<Pick<Activities, 'lookAtRun'>>({
  startToCloseTimeout: '20s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s' },
})

/**
 * One run of a schedule: starts it, waits for its end, and records it. Temporal's overlap policies are about this
 * workflow, so it lasts as long as its run; when it is cancelled, it cancels the run.
 */
export const scheduleRunWorkflow: WorkflowOf<typeof scheduleRunContract> = async (input) => {
  const due = dueOf(input)
  let isStarted = input.dueAt !== undefined
  try {
    if (!isStarted) {
      setCurrentDetails('Starting the run.')
      const started = await startDueRun(due)
      if (started.next === 'none') {
        setCurrentDetails(`Nothing was started: ${started.reason}.`)
        return started.reason
      }
      isStarted = started.next === 'wait'
    }
    if (isStarted) await waitForEnd(due, input)
  } catch (error) {
    if (!isCancellation(error)) {
      if (isStarted) throw error
      setCurrentDetails('The run could not be started.')
      await giveUpDueRun(due)
      await finishDueRun(due)
      throw error
    }
    // The cancellation may have come before the answer of the start, so the run is looked for in any case.
    await CancellationScope.nonCancellable(async () => {
      await cancelDueRun(due)
      await finishDueRun(due)
    })
    throw error
  }
  const { mail } = await finishDueRun(due)
  // A workflow of its own: while the mail server is away, the next run of the schedule is not held up.
  if (mail)
    await startChild<typeof scheduleMailWorkflow>(scheduleMailContract.type.name, {
      ...startOptions(scheduleMailContract, { due, ...input }),
      parentClosePolicy: ParentClosePolicy.ABANDON,
    })
  setCurrentDetails('Ended.')
  return 'finished'
}

/** Mails the result of one run. */
export const scheduleMailWorkflow: WorkflowOf<typeof scheduleMailContract> = async (due) => {
  setCurrentDetails('Sending the mail.')
  await mailDueRun(due)
  setCurrentDetails('Sent.')
  return { ...due, outcome: 'done' }
}

async function waitForEnd(due: DueRun, input: ScheduleRunInput): Promise<void> {
  setCurrentDetails('Waiting for the end of the run.')
  for (let polls = 1; ; polls++) {
    await sleep(backOffMs(polls, { firstMs: shortestPauseMs, factor: 1.5, longestMs: longestPauseMs }))
    const { state } = await lookAtRun(due)
    if (state === 'ended') return
    // A person takes their time to decide: from now on it looks rarely.
    if (state === 'waits') polls = Infinity
    if (workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof scheduleRunWorkflow>({ ...input, dueAt: due.dueAt })
  }
}

/** The time for which Temporal's schedule started the workflow; that of the start if a person triggered it. */
function dueOf({ scheduleId, triggeredRunId, dueAt }: ScheduleRunInput): DueRun {
  const { searchAttributes, startTime } = workflowInfo()
  const nominal = searchAttributes['TemporalScheduledStartTime']?.[0]
  const time = nominal instanceof Date ? nominal : startTime
  return { scheduleId, dueAt: dueAt ?? time.toISOString(), ...(triggeredRunId === undefined ? {} : { triggeredRunId }) }
}
