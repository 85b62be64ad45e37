import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile, noText } from '../../../domain/knowledge/unreadable-file.ts'
import { openArchive } from '../archive.ts'
import type { Content } from '../content.ts'
import type { InnerFiles } from '../inner-files.ts'

/** What systems put beside the files that people pack. */
const isUseless = /(^|\/)(__MACOSX\/|\.DS_Store$|Thumbs\.db$|\.git\/)/i

/** The files of an archive in the order of their paths, each below its path. */
export async function* readZip(content: Content, inner: InnerFiles): AsyncGenerator<Block> {
  if (!inner.canGoDeeper) throw new UnreadableFile('too_large', 'This archive is packed too deeply in others.')
  const archive = await openArchive(content)
  let found = false
  try {
    for (const name of archive.names.filter((one) => !isUseless.test(one)).toSorted()) {
      const size = archive.size(name) ?? 0
      if (size > inner.bytesLeft())
        throw new UnreadableFile('too_large', 'This file holds more files, or larger ones, than can be read.')
      const parts: Buffer[] = []
      for await (const part of (await archive.stream(name)) ?? []) parts.push(part)
      found = true
      yield* inner.read({ name, content: Buffer.concat(parts) })
    }
  } finally {
    archive.close()
  }
  if (!found) throw noText()
}
