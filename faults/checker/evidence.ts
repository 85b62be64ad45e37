import type { ClientLog, Intention, Problem } from '../client-log.ts'
import type { RecordedCall } from '../stand-ins.ts'
import type { StoredRecord, Stores } from './stores.ts'

/** A chunk without the ids of its file and its assistant. */
export type ChunkText = string

export interface Evidence {
  log: Pick<ClientLog, 'intentions'>
  stores: Stores
  effects: RecordedCall[]
  mails: string[]
  /** The chunks of each document, by its name, from before the first fault. */
  undisturbed: Map<string, ChunkText[]>
  /** Work that is still under way although no client sends requests. */
  unfinished: string[]
}

export type Records = Map<string, StoredRecord[]>
export type Report = (kind: Problem['kind'], what: string, intention?: Intention) => void
