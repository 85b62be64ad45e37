import type { TestDatabase } from './support.ts'

type Killable = Pick<TestDatabase, 'connect' | 'kill' | 'restart'>

/**
 * Writes pairs of records in transactions until `transactions` are acknowledged, kills the server at
 * that very moment, starts it again, and says what is missing. With `beside`, three others write
 * single records meanwhile; without them nothing but its own commit brings a transaction to the disk.
 */
export async function writeUntilKilled(database: Killable, options: { transactions: number; beside: boolean }) {
  const before = database.connect()
  await before.dropCollection('kept')
  await before.dropCollection('pairs')
  const kept = before.collection<{ _id: number }>('kept')
  const pairs = before.collection<{ _id: number }>('pairs')
  const acknowledged: { single: number[]; paired: number[] } = { single: [], paired: [] }
  let next = 0
  let isOver = false

  const pairsOneByOne = async () => {
    for (let count = 0; count < options.transactions; count++) {
      const id = next++
      // A transaction that meets another one is repeated.
      await before.client.withSession((session) =>
        session.withTransaction(async () => {
          await kept.insertOne({ _id: id }, { session })
          await pairs.insertOne({ _id: id }, { session })
        }),
      )
      acknowledged.paired.push(id)
    }
    isOver = true
    await database.kill()
  }
  const singles = async () => {
    while (!isOver) {
      const id = next++
      await kept.insertOne({ _id: id }).then(
        () => acknowledged.single.push(id),
        () => (isOver = true),
      )
    }
  }
  await Promise.all([pairsOneByOne(), ...(options.beside ? [singles(), singles(), singles()] : [])])

  await before.client.close()
  await database.restart()
  const after = database.connect()
  const idsIn = async (name: string) => {
    const records = await after.collection<{ _id: number }>(name).find().toArray()
    return new Set(records.map(({ _id }) => _id))
  }
  const [keptIds, pairIds] = await Promise.all([idsIn('kept'), idsIn('pairs')])
  const all = [...acknowledged.single, ...acknowledged.paired]
  return {
    written: all.length,
    lost: all.filter((id) => !keptIds.has(id)),
    halves: [...acknowledged.paired.filter((id) => !pairIds.has(id)), ...[...pairIds].filter((id) => !keptIds.has(id))],
  }
}
