import { createHash } from 'node:crypto'
import type { Stores } from './stores.ts'

const idPattern = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|i\d{6}x@example\.com/g

/** All ids of records, and addresses, that a value names. */
export function idsIn(value: unknown): Set<string> {
  return new Set(JSON.stringify(value).match(idPattern))
}

/** One hash over all that any store holds of an owner: of all records that name one of these ids, and of all vectors. */
export async function digestOf(
  stores: Pick<Stores, 'records' | 'vectors'>,
  { ids, assistantIds }: { ids: string[]; assistantIds: string[] },
): Promise<string> {
  const hash = createHash('sha256')
  for (const [name, records] of [...(await stores.records())].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const own = records
      .filter((record) => ids.some((id) => idsIn(record).has(id)))
      // When somebody was last seen changes by itself.
      .map((record) => JSON.stringify({ ...record, last_active_at: 0 }))
    hash.update(name).update(own.toSorted().join('\n'))
  }
  for (const id of assistantIds) hash.update(`${id} ${await stores.vectors.count(id)}`)
  return hash.digest('hex')
}
