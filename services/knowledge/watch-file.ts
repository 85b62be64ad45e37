import { assistantStore } from '../stores/assistants.ts'
import { fileStore } from '../stores/files.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { Collections } from '../collections.ts'
import type { KnowledgeCollections } from './collections.ts'

const pollEveryMs = 1000

/**
 * Aborts `signal` about a second after a file that is being read is no longer wanted: it or its assistant is being
 * deleted, or it has failed. So a deletion does not have to find the reader, which may be on another machine.
 */
export function watchFile(
  collections: Pick<KnowledgeCollections, 'files'> & Pick<Collections, 'assistants'>,
  { _id, assistant_id: assistantId }: Pick<FileRecord, '_id' | 'assistant_id'>,
): { signal: AbortSignal; stop(): void } {
  const unwanted = new AbortController()
  let isStopped = false
  let timer = setTimeout(look, pollEveryMs)

  async function look(): Promise<void> {
    // If the database does not answer, nothing is known about the file.
    const isWanted = await isThere().catch(() => true)
    if (isStopped) return
    if (isWanted) timer = setTimeout(look, pollEveryMs)
    else unwanted.abort(new Error('The file is no longer wanted.'))
  }

  async function isThere(): Promise<boolean> {
    const [file, assistant] = await Promise.all([
      fileStore(collections).isWantedOfAny(_id),
      assistantStore(collections).isPresentOfAny(assistantId),
    ])
    return file && assistant
  }

  return {
    signal: unwanted.signal,
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
