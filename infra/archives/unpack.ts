import { Readable, Transform } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { wrongArchive } from '../../domain/archive/wrong-archive.ts'
import { AppError } from '../../domain/errors.ts'

const megabyte = 1024 * 1024
/** Text with many repetitions shrinks to a fiftieth; a bomb shrinks to a thousandth. */
const maxRatio = 100
const ratioCountsFrom = 64 * megabyte
const pieceBytes = 256 * 1024

/**
 * The bytes of a gzipped archive. Throws `payload_too_large` when it is larger than the limit, unpacked or not, or
 * shrinks more than data of users does.
 */
export async function* unpack(packed: AsyncIterable<Uint8Array>, maxMb: number): AsyncGenerator<Buffer, undefined> {
  const maxBytes = maxMb * megabyte
  let [read, written] = [0, 0]
  const counted = new Transform({
    transform(piece: Buffer, _encoding, done) {
      read += piece.length
      done(read > maxBytes ? tooLarge(maxMb) : null, piece)
    },
  })
  const gunzip = createGunzip({ chunkSize: pieceBytes })
  const source = Readable.from(packed, { objectMode: false })
  counted.once('error', (error) => gunzip.destroy(error))
  source.pipe(counted).pipe(gunzip)
  try {
    for await (const piece of gunzip) {
      const bytes = Buffer.from(piece)
      written += bytes.length
      if (written > maxBytes) throw tooLarge(maxMb)
      if (written > ratioCountsFrom && written > maxRatio * read)
        throw new AppError(
          'payload_too_large',
          'The archive unpacks to far more than its size. It was not read further.',
        )
      yield bytes
    }
  } catch (error) {
    throw error instanceof AppError ? error : wrongArchive('it is damaged, or not compressed with gzip')
  }
}

function tooLarge(maxMb: number): AppError {
  return new AppError('payload_too_large', `An archive may have at most ${maxMb} MB, packed and unpacked.`)
}
