import type { DueRun, RunInspection, StartOutcome } from '../../domain/contracts/schedule-run.ts'
import { durable, translateErrors } from '../durable.ts'

export interface ScheduleActivityDeps {
  startDueRun(due: DueRun): Promise<StartOutcome>
  inspect(due: DueRun): Promise<RunInspection>
  giveUp(due: DueRun): Promise<void>
  cancel(due: DueRun): Promise<void>
  finish(due: DueRun): Promise<{ mail: boolean }>
  mailResult(due: DueRun): Promise<void>
}

/** The side effects of the workflow of a schedule's run. */
export function createScheduleActivities({
  startDueRun,
  inspect,
  giveUp,
  cancel,
  finish,
  mailResult,
}: ScheduleActivityDeps) {
  return {
    startDueRun: durable(startDueRun),
    lookAtRun: translateErrors(inspect),
    giveUpDueRun: durable(giveUp),
    cancelDueRun: durable(cancel),
    finishDueRun: durable(finish),
    mailDueRun: translateErrors(mailResult),
  }
}
