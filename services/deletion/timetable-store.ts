import type { Collections } from '../collections.ts'
import { type OwnerField, membersOf } from './owned-store.ts'
import { type Members, type Store, inBatches } from './store.ts'

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
    const ids = new Set(await listed(timetable, fields, members))
    for (const field of fields)
      await inBatches(members[membersOf[field]], async (owners) => {
        const found = await owned.find({ [field]: { $in: owners } }, { _id: 1 }).lean<{ _id: string }[]>()
        for (const { _id } of found) ids.add(_id)
      })
    return ids
  }
}

/** Also those whose record is gone. A schedule at Temporal does not name its thread. */
async function listed(
  timetable: RemovableTimetable,
  fields: readonly OwnerField[],
  members: Members,
): Promise<string[]> {
  const field = fields.filter((one) => one !== 'thread_id').find((one) => members[membersOf[one]].length > 0)
  return field === undefined ? [] : timetable.idsOf(ownerOf[field], members[membersOf[field]])
}

const ownerOf = { user_id: 'user', project_id: 'project', assistant_id: 'assistant' } as const
