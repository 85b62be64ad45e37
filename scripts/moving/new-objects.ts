import { isJsonObject } from '../../domain/json.ts'
import type { DumpEntry, DumpKind } from './dump.ts'

type Body = Record<string, unknown>
type LeftOut = (part: string, reason: string) => void
/** The new id of an object of the dump. */
type NewIdOf = (kind: DumpKind, id: string) => string | undefined

/** What a server says of an object and nobody can set. */
const shownOnly: Partial<Record<DumpKind, string[]>> = {
  vector_store: ['bytes', 'usage_bytes', 'file_counts', 'status', 'expires_at', 'last_active_at'],
  'vector_store.file': ['usage_bytes', 'vector_store_id', 'status', 'last_error'],
  'thread.message': [
    'thread_id',
    'status',
    'incomplete_details',
    'completed_at',
    'incomplete_at',
    'assistant_id',
    'run_id',
  ],
}
/** Entries of metadata in the interface. */
const mostMetadata = 16

/**
 * The request that makes an object of the dump anew: its members as they stand, with the new ids of what they name,
 * and the old id in `metadata.imported_id`. Members that are null or empty say nothing and are not sent.
 */
export function requestFor(entry: DumpEntry, object: Body, newIdOf: NewIdOf, leftOut: LeftOut): Body {
  const dropped = new Set(['id', 'object', 'created_at', ...(shownOnly[entry.kind] ?? [])])
  const body = Object.fromEntries(
    Object.entries(object).filter(([name, value]) => !dropped.has(name) && value !== null && !isEmpty(value)),
  )
  if (entry.kind === 'vector_store.file') return storeFile(entry, body, newIdOf)
  if (isJsonObject(body['tool_resources']))
    body['tool_resources'] = toolResources(body['tool_resources'], newIdOf, leftOut)
  if (entry.kind === 'thread.message') {
    body['content'] = content(body['content'], newIdOf, leftOut)
    if (Array.isArray(body['attachments'])) body['attachments'] = attachments(body['attachments'], newIdOf, leftOut)
  }
  body['metadata'] = metadata(entry, body['metadata'], leftOut)
  return body
}

const isEmpty = (value: unknown) =>
  (Array.isArray(value) && value.length === 0) || (isJsonObject(value) && Object.keys(value).length === 0)

function storeFile({ id }: DumpEntry, body: Body, newIdOf: NewIdOf): Body {
  const { chunking_strategy: cut, ...rest } = body
  const file = newIdOf('file', id)
  if (file === undefined) throw new Error(`the file ${id} was not taken`)
  // `other` stands for files that were cut before the interface could say how.
  const isKnown = isJsonObject(cut) && (cut['type'] === 'static' || cut['type'] === 'auto')
  return { ...rest, file_id: file, ...(isKnown ? { chunking_strategy: cut } : {}) }
}

function metadata({ id, createdAt }: DumpEntry, given: unknown, leftOut: LeftOut): Body {
  const own = isJsonObject(given) ? given : {}
  const added = { imported_id: id, ...(createdAt > 0 ? { imported_created_at: String(createdAt) } : {}) }
  const room = mostMetadata - Object.keys(own).length
  if (room <= 0) leftOut('metadata.imported_id', `there are ${mostMetadata} entries already`)
  return { ...own, ...Object.fromEntries(Object.entries(added).slice(0, Math.max(0, room))) }
}

function toolResources(given: Body, newIdOf: NewIdOf, leftOut: LeftOut): Body {
  const lists: [string, string, DumpKind][] = [
    ['file_search', 'vector_store_ids', 'vector_store'],
    ['code_interpreter', 'file_ids', 'file'],
  ]
  const resources = { ...given }
  for (const [tool, member, kind] of lists) {
    const of = resources[tool]
    const ids = isJsonObject(of) ? of[member] : undefined
    if (!isJsonObject(of)) continue
    const left = Array.isArray(ids) ? renamed(ids, kind, `tool_resources.${tool}.${member}`, newIdOf, leftOut) : []
    if (left.length === 0) delete resources[tool]
    else resources[tool] = { ...of, [member]: left }
  }
  return resources
}

function renamed(ids: unknown[], kind: DumpKind, place: string, newIdOf: NewIdOf, leftOut: LeftOut): string[] {
  return ids.flatMap((id, index) => renamedOne(id, kind, `${place}[${index}]`, newIdOf, leftOut) ?? [])
}

function renamedOne(
  id: unknown,
  kind: DumpKind,
  place: string,
  newIdOf: NewIdOf,
  leftOut: LeftOut,
): string | undefined {
  const found = newIdOf(kind, String(id))
  if (found === undefined) leftOut(place, `the ${kind} ${String(id)} was not taken`)
  return found
}

/** Lists show more of a text than a request takes: its annotations, which name places in the old files. */
function content(given: unknown, newIdOf: NewIdOf, leftOut: LeftOut): unknown {
  if (!Array.isArray(given)) return given
  return given.flatMap((part: unknown, index) => {
    if (!isJsonObject(part)) return [part]
    const { type, text, image_file: image, refusal } = part
    const place = `content[${index}]`
    if (type === 'text' && isJsonObject(text)) {
      if (!isEmpty(text['annotations'] ?? [])) leftOut(`${place}.text.annotations`, 'they name places in the old files')
      return [{ type, text: text['value'] }]
    }
    if (type === 'refusal') return [{ type: 'text', text: refusal }]
    if (type !== 'image_file' || !isJsonObject(image)) return [part]
    const file = renamedOne(image['file_id'], 'file', place, newIdOf, leftOut)
    return file === undefined ? [] : [{ type, image_file: { ...image, file_id: file } }]
  })
}

function attachments(given: unknown[], newIdOf: NewIdOf, leftOut: LeftOut): unknown[] {
  return given.flatMap((attachment, index) => {
    if (!isJsonObject(attachment)) return [attachment]
    const file = renamedOne(attachment['file_id'], 'file', `attachments[${index}]`, newIdOf, leftOut)
    return file === undefined ? [] : [{ ...attachment, file_id: file }]
  })
}
