import { objectFromJsonText } from '../../domain/json-text.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { Attributes } from './attribute-filter.ts'

/** A record of a file in a vector store. */
export type EntryRecord = FileRecord & { source_id: string }

export function attributesOf({ attributes_json: text }: Pick<FileRecord, 'attributes_json'>): Attributes {
  if (text === undefined) return {}
  return Object.fromEntries(
    Object.entries(objectFromJsonText(text)).filter(
      (entry): entry is [string, string | number | boolean] =>
        typeof entry[1] === 'string' || typeof entry[1] === 'number' || typeof entry[1] === 'boolean',
    ),
  )
}
