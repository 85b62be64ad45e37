import { type ActivityOptions, ApplicationFailure } from '@temporalio/workflow'
import type { CarriedRun, RunTimeLimit } from '../domain/contracts/thread.ts'
import { httpStatusOf } from '../domain/errors.ts'

/** The time that a run has for its steps, retries and tools. Older histories have no limit. */

type Limited = Pick<CarriedRun, 'timeLimit'>

export function newTimeLimit(maxDurationMs: number | undefined): Limited {
  return maxDurationMs === undefined ? {} : { timeLimit: { maxDurationMs, deadlineMs: Date.now() + maxDurationMs } }
}

export function isTimeOver({ timeLimit }: Limited): boolean {
  return timeLimit !== undefined && timeLimit.deadlineMs <= Date.now()
}

/** Adds the time during which a run waited for a person. */
export function extendTimeLimit({ timeLimit }: Limited, ms: number): void {
  if (timeLimit !== undefined) timeLimit.deadlineMs += ms
}

export function remainingMs({ timeLimit }: Limited): number {
  return timeLimit === undefined ? Number.POSITIVE_INFINITY : timeLimit.deadlineMs - Date.now()
}

/** Options that end an activity with all its retries when the run's time is over. */
export function remainingTime({ timeLimit }: Limited): Pick<ActivityOptions, 'scheduleToCloseTimeout'> {
  return timeLimit === undefined ? {} : { scheduleToCloseTimeout: Math.max(1, remainingMs({ timeLimit })) }
}

/** `cause` is the failure of the last attempt. */
export function timeLimitReached({ timeLimit }: Limited, cause?: Error): ApplicationFailure {
  const limit = timeLimit === undefined ? 'time limit' : `limit of ${inMinutes(timeLimit)}`
  return ApplicationFailure.create({
    message: `The run did not end within its ${limit}.`,
    type: 'timed_out',
    nonRetryable: true,
    details: [httpStatusOf.timed_out, cause instanceof ApplicationFailure ? cause.message : ''],
  })
}

function inMinutes({ maxDurationMs }: RunTimeLimit): string {
  const minutes = maxDurationMs / 60_000
  return minutes === 1 ? '1 minute' : `${minutes} minutes`
}
