/** All bytes of a source; undefined if there are more than `most`: then no more is read than shows that. */
export async function bytesWithin(
  source: AsyncIterable<Uint8Array> | Uint8Array[],
  most: number,
): Promise<Buffer | undefined> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of source) {
    bytes += piece.byteLength
    if (bytes > most) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
