import type mongoose from 'mongoose'

/**
 * Makes the collections that the models declare, and their indexes, one after the other; what is there
 * stays. Without `only`, all of them. Other statements continue in the meantime.
 */
export async function makeDeclared(connection: mongoose.Connection, only?: string[]): Promise<void> {
  for (const model of Object.values(connection.models)) {
    if (only !== undefined && !only.includes(model.collection.name)) continue
    await model.createCollection()
    await model.createIndexes()
  }
}

/** Indexes of older versions that a newer index covers. Indexes that operators added stay. */
export async function dropIndexes(connection: mongoose.Connection, known: Record<string, string[]>): Promise<void> {
  for (const [name, indexes] of Object.entries(known)) {
    const collection = connection.collection(name)
    const present = await collection.indexes()
    for (const index of indexes.filter((unused) => present.some((one) => one.name === unused)))
      await collection.dropIndex(index)
  }
}
