import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'

/** What those who use a project with somebody see of him. */
export type Person = Pick<UserRecord, '_id' | 'email' | 'first_name' | 'last_name'>
const personMembers = { email: 1, first_name: 1, last_name: 1 } as const

/** By their ids; who is gone is left out. */
export async function personsOf(users: Collections['users'], ids: string[]): Promise<Map<string, Person>> {
  const found = await users.find({ _id: { $in: ids } }, personMembers).lean<Person[]>()
  return new Map(found.map((person) => [person._id, person]))
}

/** Somebody who is invited. */
export const findPerson = async (
  users: Collections['users'],
  who: { email: string } | { _id: string; deleting: { $ne: true } },
) => users.findOne(who, personMembers).lean<Person>()
