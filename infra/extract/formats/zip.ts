import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile, noText } from '../../../domain/knowledge/unreadable-file.ts'
import { type Archive, openArchive } from '../archive.ts'
import type { Content } from '../content.ts'
import type { InnerFiles } from '../inner-files.ts'

/** What systems put beside the files that people pack. */
const isUseless = /(^|\/)(__MACOSX\/|\.DS_Store$|Thumbs\.db$|\.git\/)/i

/** The files of an archive in the order of their paths, each below its path. Fails if none of them can be unpacked. */
export async function* readZip(content: Content, inner: InnerFiles): AsyncGenerator<Block> {
  if (!inner.canGoDeeper) throw new UnreadableFile('unsupported', 'This archive is packed too deeply in others.')
  const archive = await openArchive(content)
  let found = false
  let failed: Error | undefined
  const unpack = async (name: string): Promise<Buffer> => {
    try {
      const bytes = await bytesOf(archive, name)
      found = true
      return bytes
    } catch (error) {
      failed ??= error instanceof Error ? error : new Error(String(error))
      throw error
    }
  }
  try {
    for (const name of archive.names.filter((one) => !isUseless.test(one)).toSorted())
      yield* inner.read({ name, size: archive.size(name) ?? 0, content: () => unpack(name) })
  } finally {
    archive.close()
  }
  if (!found) throw failed ?? noText()
}

async function bytesOf(archive: Archive, name: string): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of (await archive.stream(name)) ?? []) parts.push(part)
  return Buffer.concat(parts)
}
