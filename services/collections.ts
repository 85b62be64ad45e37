// Before a change: docs/traps.md, Libraries.
import type { Model } from 'mongoose'
import type { DeclaredName, DeclaredRecords } from '../domain/records/declared-records.ts'
import type { RunRecord } from '../domain/records/run.ts'

/** Those whose records are declared. */
export type DeclaredCollections = { [K in DeclaredName]: Model<DeclaredRecords[K]> }

/** The database collections that services use. `infra/mongo` creates them. */
export interface Collections extends DeclaredCollections {
  runs: Model<RunRecord>
}
