import { createHash } from 'node:crypto'

export type ImportedKind = 'project' | 'assistant' | 'thread' | 'run' | 'message' | 'feedback' | 'ingestion' | 'file' | 'attachment'

/** Makes the ids under which a user imports records. */
export type NewIds = (kind: ImportedKind, oldId: string) => string

/**
 * The same record gets the same id each time the user imports it, and another id for every other user. So a repeated
 * import finds what is there, and no archive can name a record of somebody else: the id is a hash (SHA-256 over the
 * user, the kind and the old id) in the form of a UUID of version 7. It keeps the time of an old id of that form,
 * because runs are listed by their ids.
 */
export function newIdsFor(userId: string): NewIds {
  return (kind, oldId) => {
    const hash = createHash('sha256')
    for (const part of ['import', userId, kind, oldId]) hash.update(`${Buffer.byteLength(part)}:`).update(part)
    const hex = hash.digest('hex')
    const time = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(oldId)
      ? oldId.slice(0, 13)
      : '00000000-0000'
    const variant = ((Number.parseInt(hex.slice(3, 4), 16) & 0x3) | 0x8).toString(16)
    return `${time}-7${hex.slice(0, 3)}-${variant}${hex.slice(4, 7)}-${hex.slice(7, 19)}`
  }
}
