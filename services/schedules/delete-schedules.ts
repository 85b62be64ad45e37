import type { ScheduleRecord } from '../../domain/records/schedule.ts'
import type { Collections } from '../collections.ts'
import { membersOf, ownedStore } from '../deletion/owned-store.ts'
import { type Members, type Store, inBatches } from '../deletion/store.ts'
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
    {
      name: 'temporal_schedules',
      phase: 'contents',
      collections: [],
      async deleteFor(members) {
        for (const field of fields)
          await inBatches(members[membersOf[field]], async (ids) => {
            const found = await schedules
              .find({ [field]: { $in: ids } }, { _id: 1 })
              .lean<Pick<ScheduleRecord, '_id'>[]>()
            await schedules.updateMany({ [field]: { $in: ids } }, { $set: { deleting: true } })
            for (const { _id } of found) await timetable.remove(_id)
          })
        // Those whose record is gone.
        for (const id of await listed(timetable, members)) await timetable.remove(id)
      },
      countFor: async (members) => (await listed(timetable, members)).length,
    },
    ownedStore('schedules', schedules, fields, transaction),
    ownedStore('schedule_runs', scheduleRuns, fields, transaction),
  ]
}

const fields = ['user_id', 'project_id', 'assistant_id', 'thread_id'] as const

/** What Temporal itself lists, without the records; a schedule there does not name its thread. */
async function listed(timetable: Timetable, { userIds, projectIds, assistantIds }: Members): Promise<string[]> {
  if (userIds.length > 0) return timetable.idsOf('user', userIds)
  if (projectIds.length > 0) return timetable.idsOf('project', projectIds)
  return timetable.idsOf('assistant', assistantIds)
}
