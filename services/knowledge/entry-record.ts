import { objectFromJsonText } from '../../domain/json.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { Attributes } from './attribute-filter.ts'

export type { EntryRecord } from '../stores/files.ts'

export function attributesOf({ attributes_json: text }: Pick<FileRecord, 'attributes_json'>): Attributes {
  if (text === undefined) return {}
  return Object.fromEntries(
    Object.entries(objectFromJsonText(text)).filter(
      (entry): entry is [string, string | number | boolean] =>
        typeof entry[1] === 'string' || typeof entry[1] === 'number' || typeof entry[1] === 'boolean',
    ),
  )
}
