import type { Connection, Query, Schema } from 'mongoose'
import { AppError } from '../../domain/errors.ts'
import type { CheckpointRecord } from '../../domain/records/thread.ts'

type OpenEntries = (entryIds: string[]) => Promise<void>

const opened = new WeakMap<Connection, OpenEntries>()

/** Says how the threads of archived entries are brought back, for all reads on this connection. */
export function openArchivedWith(connection: Connection, open: OpenEntries): void {
  opened.set(connection, open)
}

/**
 * Whoever reads an entry whose text is in an archive brings its thread back first, and gets the text. The one place for
 * all readers: the log is read in a dozen ways. Costs nothing where no text is empty.
 */
export function readThroughArchives(schema: Schema<CheckpointRecord>): void {
  schema.post(['find', 'findOne'], async function fill(this: Query<unknown, CheckpointRecord>, found: unknown) {
    const archived = (Array.isArray(found) ? found : [found]).filter(isArchived)
    if (archived.length === 0) return
    const { db: connection, collection } = this.model
    const open = opened.get(connection)
    if (open === undefined) throw new AppError('internal', 'this process cannot read archived threads')
    const ids = archived.map(({ _id }) => _id)
    await open(ids)
    const texts = await collection.find({ _id: { $in: ids } as object }, { projection: { messages_json: 1 } }).toArray()
    const byId = new Map(texts.map(({ _id, messages_json: text }) => [String(_id), String(text)]))
    for (const entry of archived) {
      const text = byId.get(entry._id) ?? ''
      if (text === '') throw new AppError('internal', `the text of entry ${entry._id} is being deleted`)
      entry.messages_json = text
    }
  })
}

function isArchived(entry: unknown): entry is Pick<CheckpointRecord, '_id' | 'messages_json'> {
  return typeof entry === 'object' && entry !== null && 'messages_json' in entry && entry.messages_json === ''
}
