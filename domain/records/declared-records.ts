import type { Static } from 'typebox'
import type { ArchiveLine, RecordOf } from './declared-record.ts'
import { memoryRecord } from './memory.ts'
import { promptRecord } from './prompt.ts'

/** The kinds of records that are declared, by the names that code has for their collections. */
export const declaredRecords = { prompts: promptRecord, memories: memoryRecord } as const

type Declared = typeof declaredRecords
export type DeclaredName = keyof Declared
export type DeclaredRecords = { [K in DeclaredName]: RecordOf<Declared[K]> }

/** Those that archives of users have. */
export type ArchivedName = { [K in DeclaredName]: Declared[K]['archive'] extends ArchiveLine ? K : never }[DeclaredName]
export type ArchivedRecords = { [K in ArchivedName]: Static<Declared[K]['archive']['schema']> }

/** In the order in which an archive has them. */
export const archivedNames = ['prompts', 'memories'] as const satisfies ArchivedName[]
