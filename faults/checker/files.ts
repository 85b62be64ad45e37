import type { ChunkText, Evidence, Records, Report } from './evidence.ts'
import type { StoredRecord } from './stores.ts'

/** Each file is processed, and its chunks are those of an undisturbed ingestion of the same document. */
export async function checkFiles(
  {
    log,
    stores,
    undisturbed,
  }: Pick<Evidence, 'log' | 'undisturbed'> & {
    stores: { vectors: Pick<Evidence['stores']['vectors'], 'count'> }
  },
  records: Records,
  report: Report,
): Promise<void> {
  const chunksOf = new Map<string, StoredRecord[]>()
  for (const chunk of records.get('chunks') ?? []) {
    const id = String(chunk['file_id'])
    chunksOf.set(id, [...(chunksOf.get(id) ?? []), chunk])
  }
  const files = new Map((records.get('files') ?? []).map((file) => [String(file['_id']), file]))
  for (const intention of log.intentions.values()) {
    if (intention.kind !== 'upload' || intention.acknowledged === undefined || intention.withdrawn) continue
    const file = files.get(intention.acknowledged['id'] ?? '')
    if (file === undefined) continue
    const id = contentIn(file)
    if (file['status'] !== 'ready')
      report('lost', `the file is ${String(file['status'])}: ${String(file['error'])}`, intention)
    const chunks = chunkTexts(chunksOf.get(id) ?? [])
    const expected = undisturbed.get(intention.facts['document'] ?? '') ?? []
    if (chunks.length < expected.length) report('lost', `${chunks.length} of ${expected.length} chunks`, intention)
    else if (chunks.length > expected.length)
      report('doubled', `${chunks.length} chunks in place of ${expected.length}`, intention)
    else if (chunks.some((chunk, place) => chunk !== expected[place]))
      report('wrong', 'the chunks differ from those of an undisturbed ingestion', intention)
    const vectors = await stores.vectors.count(String(file['assistant_id']), id)
    if (vectors !== expected.length)
      report(vectors < expected.length ? 'lost' : 'doubled', `${vectors} vectors of ${expected.length}`, intention)
  }
}

/** Under which id chunks and vectors of a file's record are: those of the same bytes, if the assistant had them before. */
export function contentIn(file: StoredRecord): string {
  return String(file['content_id'] ?? file['_id'])
}

/** The chunks of a record, which holds a group of them. */
export function chunksIn(group: StoredRecord): StoredRecord[] {
  const members: unknown = JSON.parse(String(group['chunks_json']))
  if (!Array.isArray(members)) return []
  return members.map((member: StoredRecord, index) => ({ ...member, position: Number(group['position']) + index }))
}

export function chunkTexts(groups: StoredRecord[]): ChunkText[] {
  return groups
    .flatMap(chunksIn)
    .toSorted((a, b) => Number(a['position']) - Number(b['position']))
    .map(({ position, text, tokens, page, heading }) =>
      JSON.stringify({ position, text, tokens, page: page ?? undefined, heading: heading ?? undefined }),
    )
}
