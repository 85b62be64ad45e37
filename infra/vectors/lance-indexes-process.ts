import { buildIndexes } from './lance-indexes.ts'
import { createLanceTables } from './lance-tables.ts'

/** Builds the indexes of one table and ends: `uri assistant`. */
const [uri = '', assistantId = ''] = process.argv.slice(2)
const tables = createLanceTables(uri)
const table = await tables.open(assistantId)
if (table) await buildIndexes(table)
await tables.close()
process.exit(0)
