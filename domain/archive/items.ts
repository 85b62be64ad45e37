import { type ArchivedRecords, archivedNames } from '../records/declared-records.ts'
import type { RunOverrides } from '../records/run.ts'
import type {
  ArchivedAssistant,
  ArchivedAttachment,
  ArchivedEntry,
  ArchivedEvaluation,
  ArchivedFeedback,
  ArchivedFile,
  ArchivedProject,
  ArchivedRun,
  ArchivedSchedule,
  ArchivedThread,
  ArchivedToolCall,
  ArchivedVectorStore,
  ArchivedVectorStoreFile,
} from './records.ts'

/** The kinds of records in the order in which an archive has them: parents first. The last come after the files. */
export const recordKinds = [
  'projects',
  'vector_stores',
  'assistants',
  'threads',
  'messages',
  'runs',
  'tool_calls',
  'feedback',
  'schedules',
  'evaluations',
  ...archivedNames,
  'vector_store_files',
] as const
export type RecordKind = (typeof recordKinds)[number]

/** Free-form members and messages are texts, as they are stored. */
export interface ReadRecords extends ArchivedRecords {
  projects: ArchivedProject
  vector_stores: ArchivedVectorStore
  vector_store_files: ArchivedVectorStoreFile
  /** Without its secrets, of which `missing` names the places. */
  assistants: ArchivedAssistant & { missing: string[] }
  threads: Omit<ArchivedThread, 'metadata'> & { metadata_json: string }
  messages: Omit<ArchivedEntry, 'messages'> & {
    messages_json: string
    /** By which they are found. */
    words: string[]
  }
  runs: Omit<ArchivedRun, 'input' | 'overrides' | 'metadata' | 'response'> & {
    input_json: string
    overrides: RunOverrides
    metadata_json?: string
    /** An `ArchivedResponse`. */
    response_json?: string
  }
  tool_calls: Omit<ArchivedToolCall, 'args'> & { args_json: string }
  feedback: Omit<ArchivedFeedback, 'value'> & { value_json?: string }
  /** Without images, sounds and files; `hadParts`: there were some. */
  schedules: Omit<ArchivedSchedule, 'input'> & { input_json: string; hadParts: boolean }
  evaluations: ArchivedEvaluation
}

/** A record that has been checked; `id` is that of the archive. */
export type ReadRecord = {
  [K in RecordKind]: { type: 'record'; kind: K; id: string; record: ReadRecords[K] }
}[RecordKind]

/** What comes as a record and later, under its path, as bytes. */
export type Announced = { kind: 'files'; file: ArchivedFile } | { kind: 'attachments'; file: ArchivedAttachment }
export type AnnouncedKind = Announced['kind']

/** A record of the right form that a rule of the service refuses. */
export interface RefusedRecord {
  type: 'refused'
  kind: RecordKind | AnnouncedKind
  id: string
  reason: string
}

/** What an archive holds, in its order. The content of a file is read before the next item is asked for. */
export type ArchiveItem =
  | ReadRecord
  | RefusedRecord
  | (Announced & { type: 'file'; content: AsyncGenerator<Buffer, undefined> })
