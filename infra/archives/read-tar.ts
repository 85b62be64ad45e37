import { wrongArchive } from '../../domain/archive/wrong-archive.ts'

const blockBytes = 512

export interface TarMember {
  name: string
  size: number
  /** What is not read before the next member is skipped. */
  content: AsyncGenerator<Buffer, undefined>
}

/**
 * The members of a tar archive as `services/export/tar.ts` writes it: plain files with short names. Anything else,
 * such as links, folders, long names and sparse files, is refused as `invalid_input`. Holds one piece of the source.
 */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarMember, undefined> {
  const bytes = createByteReader(source)
  for (;;) {
    const header = await bytes.take(blockBytes)
    if (header.every((byte) => byte === 0)) {
      // Two empty blocks end an archive. Whatever follows must be empty too.
      for await (const piece of bytes.rest())
        if (piece.some((byte) => byte !== 0)) throw wrongArchive('data follows its end')
      return
    }
    const { name, size } = readHeader(header)
    const content = bytes.pieces(size)
    yield { name, size, content: content.pieces }
    await content.skipRest()
    await bytes.take((blockBytes - (size % blockBytes)) % blockBytes)
  }
}

function readHeader(header: Buffer): { name: string; size: number } {
  const text = (start: number, length: number) => {
    const field = header.subarray(start, start + length)
    const end = field.indexOf(0)
    return field.subarray(0, end < 0 ? length : end).toString('latin1')
  }
  const octal = (start: number, length: number) => {
    const digits = text(start, length).trim()
    if (!/^[0-7]{1,11}$/.test(digits)) throw wrongArchive('a header is damaged')
    return Number.parseInt(digits, 8)
  }
  const sum = header.reduce((total, byte, place) => total + (place >= 148 && place < 156 ? 0x20 : byte), 0)
  if (text(257, 5) !== 'ustar' || octal(148, 8) !== sum) throw wrongArchive('a header is damaged')
  const type = text(156, 1)
  if ((type !== '0' && type !== '') || text(345, 155) !== '')
    throw wrongArchive('it holds something other than plain files')
  return { name: text(0, 100), size: octal(124, 12) }
}

function createByteReader(source: AsyncIterable<Buffer>) {
  const iterator = source[Symbol.asyncIterator]()
  let open: Buffer = Buffer.alloc(0)

  /** At most `limit` bytes; throws at the end of the source. */
  async function some(limit: number): Promise<Buffer> {
    while (open.length === 0) {
      const next = await iterator.next()
      if (next.done === true) throw wrongArchive('it ends too early')
      open = next.value
    }
    const piece = open.subarray(0, limit)
    open = open.subarray(piece.length)
    return piece
  }

  return {
    /** Exactly so many bytes; for small numbers. */
    async take(count: number): Promise<Buffer> {
      const pieces: Buffer[] = []
      for (let left = count; left > 0; left -= pieces.at(-1)?.length ?? 0) pieces.push(await some(left))
      return Buffer.concat(pieces)
    },

    pieces(count: number) {
      let left = count
      const pieces = (async function* (): AsyncGenerator<Buffer, undefined> {
        while (left > 0) {
          const piece = await some(left)
          left -= piece.length
          yield piece
        }
      })()
      return {
        pieces,
        async skipRest(): Promise<void> {
          // Waits for a read that is under way.
          await pieces.return(undefined)
          while (left > 0) left -= (await some(left)).length
        },
      }
    },

    async *rest(): AsyncGenerator<Buffer, undefined> {
      if (open.length > 0) yield open
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value
    },
  }
}
