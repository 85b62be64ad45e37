import { constants, setPriority } from 'node:os'

/** Builds the indexes of one table and ends: `uri assistant`. Searches go first: LanceDB's threads get this priority. */
setPriority(constants.priority.PRIORITY_LOW)
const { buildIndexes } = await import('./lance-indexes.ts')
const { createLanceTables } = await import('./lance-tables.ts')
const [uri = '', space = ''] = process.argv.slice(2)
const tables = createLanceTables(uri)
await tables.use(space, buildIndexes)
await tables.close()
process.exit(0)
