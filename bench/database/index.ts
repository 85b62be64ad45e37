import type { BenchContext } from '../environment.ts'
import { benchCompression } from './compression.ts'
import { benchDeletion } from './deletion.ts'
import { benchKills } from './kills.ts'
import { benchLists } from './lists.ts'
import { benchRecords } from './records.ts'

/** The load that the database of `npm start` can take: large deletions, kills, many records. */
export const databaseParts: Record<string, (context: BenchContext) => Promise<void>> = {
  compression: benchCompression,
  deletion: benchDeletion,
  kills: benchKills,
  lists: benchLists,
  records: benchRecords,
}
