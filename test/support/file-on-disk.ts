import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { FileToRead } from '../../services/knowledge/extraction.ts'

/** A file on disk, as the extractor takes it. */
export async function fileOnDisk(path: string, name: string): Promise<FileToRead> {
  const { size } = await stat(path)
  return { name, size, owner: 'tests', content: () => createReadStream(path) }
}
