import type { ScheduleRecord } from '../../domain/records/schedule.ts'
import type { RemovableTimetable } from '../owned-data/timetable-store.ts'

/** The schedules at Temporal, which start the workflow `scheduleRunWorkflow` when they are due. */
export interface Timetable extends RemovableTimetable {
  /** Makes the schedule at Temporal what the record says. Throws `invalid_input` if Temporal refuses its times. */
  put(schedule: ScheduleRecord): Promise<void>
  /** The next times at which Temporal starts the schedule, with their jitter; at most ten. Undefined if it is not there. */
  nextTimes(scheduleId: string): Promise<Date[] | undefined>
}
