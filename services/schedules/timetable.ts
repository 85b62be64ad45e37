import type { ScheduleRecord } from '../../domain/records/schedule.ts'

/** The schedules at Temporal, which start the workflow `scheduleRunWorkflow` when they are due. */
export interface Timetable {
  /** Makes the schedule at Temporal what the record says. Throws `invalid_input` if Temporal refuses its times. */
  put(schedule: ScheduleRecord): Promise<void>
  /** Removes it; one that does not exist is no error. */
  remove(scheduleId: string): Promise<void>
  /** The next times at which Temporal starts the schedule, with their jitter; at most ten. Undefined if it is not there. */
  nextTimes(scheduleId: string): Promise<Date[] | undefined>
  /** The ids of the schedules of these owners, as Temporal lists them. */
  idsOf(owner: 'user' | 'project' | 'assistant', ids: string[]): Promise<string[]>
}
