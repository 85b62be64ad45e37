import type { FileRecord } from '../../domain/records/file.ts'
import type { Collections } from '../collections.ts'
import type { KnowledgeCollections } from './collections.ts'

const lookEveryMs = 1000

/**
 * Aborts `signal` about a second after a file that is being read is no longer wanted: it or its assistant is being
 * deleted, or it has failed. So a deletion does not have to find the reader, which may be on another machine.
 */
export function watchFile(
  { files, assistants }: Pick<KnowledgeCollections, 'files'> & Pick<Collections, 'assistants'>,
  { _id, assistant_id: assistantId }: Pick<FileRecord, '_id' | 'assistant_id'>,
): { signal: AbortSignal; stop(): void } {
  const unwanted = new AbortController()
  let isStopped = false
  let timer = setTimeout(look, lookEveryMs)

  async function look(): Promise<void> {
    // If the database does not answer, nothing is known about the file.
    const isWanted = await isThere().catch(() => true)
    if (isStopped) return
    if (isWanted) timer = setTimeout(look, lookEveryMs)
    else unwanted.abort(new Error('The file is no longer wanted.'))
  }

  async function isThere(): Promise<boolean> {
    const [file, assistant] = await Promise.all([
      files.exists({ _id, status: { $nin: ['failing', 'failed'] } }),
      assistants.exists({ _id: assistantId, deleting: { $ne: true } }),
    ])
    return file !== null && assistant !== null
  }

  return {
    signal: unwanted.signal,
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
