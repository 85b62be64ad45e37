import { createHash } from 'node:crypto'
import type { Stores } from './stores.ts'

const idPattern = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|i\d{6}x@example\.com/g

/** All ids of records and e-mail addresses in a value. */
export function idsIn(value: unknown): Set<string> {
  return new Set(JSON.stringify(value).match(idPattern))
}

/** The records that name one of these ids, by collection, as JSON. */
export async function ownRecords(stores: Pick<Stores, 'records'>, ids: string[]): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const [name, records] of [...(await stores.records())].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const own = records
      .filter((record) => ids.some((id) => idsIn(record).has(id)))
      // The time of the last activity may change.
      .map((record) => JSON.stringify({ ...record, last_active_at: 0 }))
    if (own.length > 0) found[name] = own.toSorted()
  }
  return found
}

/**
 * A hash over all data of an owner in all stores: the records that name one of these ids, and the number of
 * vectors.
 */
export async function digestOf(
  stores: Pick<Stores, 'records' | 'vectors'>,
  { ids, assistantIds }: { ids: string[]; assistantIds: string[] },
): Promise<string> {
  const hash = createHash('sha256')
  for (const [name, own] of Object.entries(await ownRecords(stores, ids))) hash.update(name).update(own.join('\n'))
  for (const id of assistantIds) hash.update(`${id} ${await stores.vectors.count(id)}`)
  return hash.digest('hex')
}
