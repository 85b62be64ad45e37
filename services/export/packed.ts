import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pack } from 'tar-stream'

export interface ArchiveMember {
  /** At most 100 ASCII characters: a longer name would take an extension of the format. */
  name: string
  /** Number of bytes of `content`. */
  size: number
  modified: Date
  content: Iterable<Buffer> | AsyncIterable<Buffer>
}

/**
 * The members as a tar archive (POSIX ustar). Each member is taken when the one before has been read, so that a few
 * pieces are held at a time. Throws what a member throws.
 */
export async function* packed(members: AsyncIterable<ArchiveMember>): AsyncGenerator<Buffer, undefined> {
  const archive = pack()
  const write = async () => {
    for await (const { name, size, modified: mtime, content } of members) {
      const entry = archive.entry({ name, size, mtime, mode: 0o600 })
      await pipeline(Readable.from(content, { objectMode: false }), entry)
    }
    archive.finalize()
  }
  write().catch((error: Error) => archive.destroy(error))
  try {
    for await (const piece of archive) if (Buffer.isBuffer(piece)) yield piece
  } finally {
    archive.destroy()
  }
}
