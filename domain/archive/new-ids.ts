import { derivedId } from '../ids.ts'

type ImportedKind =
  | 'project'
  | 'assistant'
  | 'thread'
  | 'run'
  | 'message'
  | 'feedback'
  | 'schedule'
  | 'source'
  | 'prompt'
  | 'memory'
  | 'document'
  | 'folder'
  | 'attachment'
  | 'ingestion'
  | 'file'

/** Makes the ids under which a user imports records. */
export type NewIds = (kind: ImportedKind, oldId: string) => string

/**
 * The same record gets the same id each time the user imports it, and another id for every other user. So a repeated
 * import finds what is there, and no archive can name a record of somebody else.
 */
export function newIdsFor(userId: string): NewIds {
  return (kind, oldId) => derivedId(['import', userId, kind, oldId], oldId)
}
