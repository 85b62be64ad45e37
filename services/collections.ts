// Before a change: docs/traps.md, Libraries.
import type { Model } from 'mongoose'
import type { DeclaredName, DeclaredRecords } from '../domain/records/declared-records.ts'

/** The database collections that services use. `infra/mongo` creates them. */
export type Collections = { [K in DeclaredName]: Model<DeclaredRecords[K]> }
