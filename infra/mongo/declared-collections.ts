import type mongoose from 'mongoose'

/**
 * Makes the collections that the models declare, one after the other, each with all of its indexes in one statement;
 * what is there stays. Without `only`, all of them. Other statements continue in the meantime.
 */
export async function makeDeclared(connection: mongoose.Connection, only?: string[]): Promise<void> {
  for (const model of Object.values(connection.models)) {
    if (only !== undefined && !only.includes(model.collection.name)) continue
    await model.createCollection()
    const indexes = model.schema.indexes().map(([members, { unique, ...options }]) => ({
      ...options,
      ...(unique && { unique: true }),
      key: keyOf(members),
    }))
    if (indexes.length > 0) await model.collection.createIndexes(indexes)
  }
}

function keyOf(members: mongoose.IndexDefinition): Map<string, 1 | -1> {
  return new Map(
    Object.entries(members).map(([name, direction]) => {
      if (direction !== 1 && direction !== -1) throw new Error(`the index of ${name} has an unknown direction`)
      return [name, direction]
    }),
  )
}
