import { collectEvery } from '../garbage.ts'

/** Two buffers for one upload: one is filled while the other is being stored. */
type PieceBuffers = [Buffer, Buffer]

const retainedPairs = 2
/** The driver copies each piece twice, so that this many bytes leave four times as many for V8 to collect. */
const collectEveryBytes = 8 * 1024 * 1024

/**
 * Buffers that uploads use in turn. V8 counts bytes outside of its heap, but collects them only after 64 MB and while
 * more arrive: an upload of a gigabyte, with a new buffer for each piece, let the process grow by 130 MB.
 */
export function createPieceBuffers(pieceBytes: number) {
  const spare: PieceBuffers[] = []

  return {
    take: (): PieceBuffers => spare.pop() ?? [Buffer.allocUnsafeSlow(pieceBytes), Buffer.allocUnsafeSlow(pieceBytes)],

    /** Only when nothing reads them any more. */
    giveBack(buffers: PieceBuffers): void {
      if (spare.length < retainedPairs) spare.push(buffers)
    },

    /** Frees what the network and the driver have used for earlier pieces. */
    noteStored: collectEvery(collectEveryBytes, 'minor'),
  }
}

/** The bytes of a stream in pieces, all as long as the buffers except for the last. Fills the buffers in turns. */
export async function* inPieces(source: AsyncIterable<Uint8Array>, buffers: PieceBuffers): AsyncGenerator<Buffer> {
  let [buffer, other] = buffers
  let size = 0
  for await (const bytes of source) {
    for (let taken = 0; taken < bytes.length;) {
      const part = bytes.subarray(taken, taken + buffer.length - size)
      buffer.set(part, size)
      taken += part.length
      size += part.length
      if (size < buffer.length) continue
      yield buffer
      ;[buffer, other] = [other, buffer]
      size = 0
    }
  }
  if (size > 0) yield buffer.subarray(0, size)
}
