import { Readable } from 'node:stream'
import { extract } from 'tar-stream'
import { wrongArchive } from '../../domain/archive/wrong-archive.ts'
import { AppError } from '../../domain/errors.ts'

export interface TarMember {
  name: string
  size: number
  /** What has not been read of it when the next member is asked for is skipped. */
  content: AsyncGenerator<Buffer, undefined>
}

/**
 * The members of a tar archive as `services/export/user-archive.ts` writes it. Anything but plain files with short
 * names is refused as `invalid_input`. Holds a few pieces of the source.
 */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarMember, undefined> {
  const archive = extract()
  const bytes = Readable.from(source, { objectMode: false })
  bytes.once('error', (error) => archive.destroy(error))
  bytes.pipe(archive)
  try {
    for await (const entry of archive) {
      const { type, name, size, pax } = entry.header
      if (type !== 'file' || pax) throw wrongArchive('it holds something other than plain files')
      const pieces = piecesOf(entry)
      yield { name, size, content: pieces.content() }
      await pieces.skipRest()
    }
  } catch (error) {
    throw damaged(error)
  } finally {
    bytes.destroy()
  }
}

/** The content of a member. Its iterator is never returned: that would end the archive. */
function piecesOf(entry: AsyncIterable<unknown>) {
  const iterator = entry[Symbol.asyncIterator]()
  const next = () =>
    iterator.next().catch((error: unknown) => {
      throw damaged(error)
    })
  async function* content(): AsyncGenerator<Buffer, undefined> {
    for (let piece = await next(); piece.done !== true; piece = await next())
      if (Buffer.isBuffer(piece.value)) yield piece.value
  }
  return {
    content,
    async skipRest(): Promise<void> {
      while ((await next()).done !== true);
    },
  }
}

/** The library's messages would not help the sender of the archive. */
function damaged(error: unknown): AppError {
  return error instanceof AppError ? error : wrongArchive('it is damaged or ends too early')
}
