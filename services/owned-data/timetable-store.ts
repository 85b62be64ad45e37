import type { OwnerField } from '../../domain/records/declared-record.ts'
import type { ScheduleRecord } from '../../domain/records/schedule.ts'
import type { Collections } from '../collections.ts'
import { type Members, type Store, inBatches } from './data-store.ts'
import { membersOf } from './owned-store.ts'

/** The schedules at Temporal that have the ids of records. */
export interface RemovableTimetable {
  /** Removes it; one that does not exist is no error. */
  remove(id: string): Promise<void>
  exists(id: string): Promise<boolean>
  /** As Temporal lists them: a new one may still be missing there, and a removed one may still be named. */
  idsOf(owner: 'user' | 'project' | 'assistant', ids: string[]): Promise<string[]>
}

interface TimetableStore {
  /** The name on receipts. */
  name: string
  records: Collections['schedules'] | Collections['sources']
  /** The widest first. */
  fields: readonly OwnerField[]
  /** Sees to it that no record brings its schedule back. */
  stop: { $set: { deleting: true }; $unset?: { crawl_id: 1 } }
  timetable: RemovableTimetable
}

/** Schedules at Temporal, which go before their records. They are those of the records, and those that Temporal lists. */
export function timetableStore({ name, records, fields, stop, timetable }: TimetableStore): Store {
  const owned = records as Collections['schedules']
  return {
    name,
    phase: 'contents',
    collections: [],
    async deleteFor(members) {
      for (const field of fields)
        await inBatches(members[membersOf[field]], (owners) => owned.updateMany({ [field]: { $in: owners } }, stop))
      for (const id of await idsFor(members)) await timetable.remove(id)
    },
    async countFor(members) {
      let total = 0
      for (const id of await idsFor(members)) if (await timetable.exists(id)) total += 1
      return total
    },
  }

  async function idsFor(members: Members): Promise<Set<string>> {
    const ids = new Set(await listed(members))
    for (const field of fields)
      await inBatches(members[membersOf[field]], async (owners) => {
        const found = await owned.find({ [field]: { $in: owners } }, { _id: 1 }).lean<{ _id: string }[]>()
        for (const { _id } of found) ids.add(_id)
      })
    return ids
  }

  /**
   * Also those whose record is gone. A schedule at Temporal does not name its thread, and keeps the name of the project
   * and the assistant with which it was made: the record says whose it is now.
   */
  async function listed(members: Members): Promise<string[]> {
    const field = fields.filter(isListed).find((one) => members[membersOf[one]].length > 0)
    if (field === undefined) return []
    const owners = new Set(members[membersOf[field]])
    const ids = await timetable.idsOf(ownerOf[field], [...owners])
    const elsewhere = new Set<string>()
    await inBatches(ids, async (some) => {
      const found = await owned.find({ _id: { $in: some } }, { [field]: 1 }).lean<ScheduleRecord[]>()
      for (const record of found) if (!owners.has(record[field])) elsewhere.add(record._id)
    })
    return ids.filter((id) => !elsewhere.has(id))
  }
}

const isListed = (field: OwnerField): field is keyof typeof ownerOf => field !== 'thread_id'

const ownerOf = { user_id: 'user', project_id: 'project', assistant_id: 'assistant' } as const
