import type { ScheduleRecord } from '../../domain/records/schedule.ts'
import type { Collections } from '../collections.ts'
import { eraseAll } from '../deletion/many.ts'
import { type Members, type Store, inBatches, sumOver } from '../deletion/store.ts'
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
    storeOf('schedules', schedules, transaction),
    storeOf('schedule_runs', scheduleRuns, transaction),
  ]
}

const fields = ['user_id', 'project_id', 'assistant_id', 'thread_id'] as const
type Field = (typeof fields)[number]

const membersOf = {
  user_id: 'userIds',
  project_id: 'projectIds',
  assistant_id: 'assistantIds',
  thread_id: 'threadIds',
} as const satisfies Record<Field, keyof Members>

/** What Temporal itself lists, without the records; a schedule there does not name its thread. */
async function listed(timetable: Timetable, { userIds, projectIds, assistantIds }: Members): Promise<string[]> {
  if (userIds.length > 0) return timetable.idsOf('user', userIds)
  if (projectIds.length > 0) return timetable.idsOf('project', projectIds)
  return timetable.idsOf('assistant', assistantIds)
}

function storeOf(
  name: string,
  collection: Collections['schedules'] | Collections['scheduleRuns'],
  transaction: RunInTransaction,
): Store {
  const owned = collection as Collections['scheduleRuns']
  return {
    name,
    phase: 'contents',
    collections: [name],
    async deleteFor(members) {
      for (const field of fields)
        await inBatches(members[membersOf[field]], (ids) => eraseAll(transaction, owned, { [field]: { $in: ids } }))
    },
    async countFor(members) {
      let total = 0
      for (const [index, field] of fields.entries()) {
        // A record with two owners among the members is counted once.
        const counted = fields.slice(0, index).map((other) => ({ [other]: { $in: members[membersOf[other]] } }))
        total += await sumOver(members[membersOf[field]], async (ids) =>
          owned.countDocuments({ [field]: { $in: ids }, ...(counted.length > 0 ? { $nor: counted } : {}) }),
        )
      }
      return total
    },
  }
}
