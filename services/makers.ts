import type { Collections } from './collections.ts'
import { type Person, personsOf } from './persons/store.ts'

/** Who made something, as members of its project see him. */
export interface Maker {
  user_id: string
  name: string
}

/** A person's name; without one, his address, which all members see. */
function nameOf({ first_name: first = '', last_name: last = '', email = '' }: Person): string {
  const name = `${first} ${last}`.trim()
  return name === '' ? email : name
}

/** By their ids, with those that are `known` already; whose account is gone is left out. */
export function createMakers({ users }: Pick<Collections, 'users'>) {
  return async (ids: Iterable<string>, known: readonly Person[] = []): Promise<Map<string, Maker>> => {
    const wanted = new Set(ids)
    const missing = [...wanted].filter((id) => known.every(({ _id }) => _id !== id))
    const found = missing.length === 0 ? [] : (await personsOf(users, missing)).values()
    const persons = [...known, ...found].filter(({ _id }) => wanted.has(_id))
    return new Map(persons.map((person) => [person._id, { user_id: person._id, name: nameOf(person) }]))
  }
}
