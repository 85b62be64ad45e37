import { type Readable, Transform } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { AppError } from '../../domain/errors.ts'
import { wrongArchive } from './read-tar.ts'

const megabyte = 1024 * 1024
/** Text with many repetitions shrinks to a fiftieth; a bomb shrinks to a thousandth. */
const maxRatio = 100
const ratioCountsFrom = 64 * megabyte

/**
 * The bytes of a gzipped archive. Throws `payload_too_large` when it is larger than the limit, unpacked or not, or
 * shrinks more than data of users does.
 */
export async function* unpacked(packed: Readable, maxMb: number): AsyncGenerator<Buffer, undefined> {
  const maxBytes = maxMb * megabyte
  let [read, written] = [0, 0]
  const counted = new Transform({
    transform(piece: Buffer, _encoding, done) {
      read += piece.length
      done(read > maxBytes ? tooLarge(maxMb) : null, piece)
    },
  })
  const gunzip = createGunzip()
  packed.once('error', (cause) => gunzip.destroy(brokenOff(cause)))
  packed.once('close', () => {
    if (!packed.readableEnded) gunzip.destroy(brokenOff(undefined))
  })
  counted.once('error', (error) => gunzip.destroy(error))
  packed.pipe(counted).pipe(gunzip)
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
  } finally {
    packed.unpipe()
    // A client reads the answer only when its whole request was read.
    packed.resume()
    counted.destroy()
    gunzip.destroy()
  }
}

function tooLarge(maxMb: number): AppError {
  return new AppError('payload_too_large', `An archive may have ${maxMb} MB, unpacked too.`)
}

function brokenOff(cause: unknown): AppError {
  return new AppError('bad_request', 'The upload of the archive was interrupted.', { cause })
}
