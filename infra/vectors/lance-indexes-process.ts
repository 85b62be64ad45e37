import { buildIndexes } from './lance-indexes.ts'
import { createLanceTables } from './lance-tables.ts'

/** Builds the indexes of one table and ends: `uri assistant`. */
const [uri = '', space = ''] = process.argv.slice(2)
const tables = createLanceTables(uri)
await tables.use(space, buildIndexes)
await tables.close()
process.exit(0)
