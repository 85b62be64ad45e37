import { createHash } from 'node:crypto'
import { extname } from 'node:path'
import type { FileRecord } from '../../domain/records/file.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { BlobStore } from './blob-store.ts'
import type { KnowledgeCollections } from './collections.ts'
import { contentStore } from './store.ts'

interface ShareDeps {
  collections: Pick<KnowledgeCollections, 'files'>
  blobs: Pick<BlobStore, 'read'>
  transaction: RunInTransaction
}

/** An earlier copy that shows no progress for so long is not waited for. */
const patienceMs = 10 * 60_000

/**
 * The same bytes twice in an assistant or a vector store are one set of chunks and vectors. `shared`: a ready file has
 * them, and this file uses its chunks and vectors, so that it is ready, too. `wait`: an earlier file has them and is
 * being processed. `own`: the file has to be read.
 */
export async function shareContent(
  { collections, blobs, transaction }: ShareDeps,
  file: FileRecord,
): Promise<'shared' | 'wait' | 'own'> {
  if (file.web !== undefined || file.chunks > 0 || file.extracted) return 'own'
  const files = contentStore(collections)
  const sha256 = file.sha256 === '' ? await hashOf(blobs.read(file.blob_id)) : file.sha256
  if (file.sha256 === '') await files.noteHash(file, sha256)
  const copies = await files.listCopies(file, sha256)
  const alike = copies.filter((copy) => isReadAlike(copy, file))
  for (const copy of alike) {
    if (copy.status === 'ready' && (await transaction((session) => files.join(file, copy, session)))) return 'shared'
  }
  const since = Date.now() - patienceMs
  return alike.some((copy) => copy.status !== 'ready' && +copy.updated_at > since && isBefore(copy, file))
    ? 'wait'
    : 'own'
}

/** The name decides how plain text is read. */
function isReadAlike(a: FileRecord, b: FileRecord): boolean {
  return (
    extname(a.name).toLowerCase() === extname(b.name).toLowerCase() &&
    a.chunking?.max_tokens === b.chunking?.max_tokens &&
    a.chunking?.overlap_tokens === b.chunking?.overlap_tokens
  )
}

/** In an order that has no circles, so that copies never wait for each other. */
export function isBefore(a: FileRecord, b: FileRecord): boolean {
  const byTime = +a.created_at - +b.created_at || a.order - b.order
  return byTime === 0 ? a._id < b._id : byTime < 0
}

/** Files that arrived in parts have no hash. */
async function hashOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const part of bytes) hash.update(part)
  return hash.digest('hex')
}
