import type { Collections } from '../collections.ts'
import { ownedStore } from '../owned-data/owned-store.ts'
import type { Store } from '../owned-data/data-store.ts'
import { timetableStore } from '../owned-data/timetable-store.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { Timetable } from './timetable.ts'

interface ScheduleStoresDeps {
  collections: Pick<Collections, 'schedules' | 'scheduleRuns'>
  transaction: RunInTransaction
  timetable: Timetable
}

/**
 * A schedule belongs to its user, project and assistant, and to the thread if it has one. First it goes at Temporal, so
 * that nothing is started any more, then its record, then the list of its runs.
 */
export function scheduleStores({ collections, transaction, timetable }: ScheduleStoresDeps): Store[] {
  const { schedules, scheduleRuns } = collections
  return [
    timetableStore({
      name: 'temporal_schedules',
      records: schedules,
      fields,
      stop: { $set: { deleting: true } },
      timetable,
    }),
    ownedStore('schedules', schedules, fields, transaction),
    ownedStore('schedule_runs', scheduleRuns, fields, transaction),
  ]
}

const fields = ['user_id', 'project_id', 'assistant_id', 'thread_id'] as const
