import type { SourceRecord } from '../../domain/records/source.ts'
import type { RemovableTimetable } from '../owned-data/timetable-store.ts'

/** The schedules at Temporal that start the crawls of sources with `refresh`. `infra/temporal` implements it. */
export interface RefreshTimetable extends RemovableTimetable {
  /** Makes the schedule what the record says. Throws `invalid_input` for times that Temporal does not know. */
  put(source: SourceRecord): Promise<void>
}
