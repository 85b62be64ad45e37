import type { SourceRecord } from '../../domain/records/source.ts'

/** The schedules at Temporal that start the crawls of sources with `refresh`. `infra/temporal` implements it. */
export interface RefreshTimetable {
  /** Makes the schedule what the record says. Throws `invalid_input` for times that Temporal does not know. */
  put(source: SourceRecord): Promise<void>
  /** A missing one is no error. */
  remove(sourceId: string): Promise<void>
  idsOf(owner: 'user' | 'project' | 'assistant', ids: string[]): Promise<string[]>
}
