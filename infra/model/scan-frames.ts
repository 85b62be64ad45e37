import { JsonLimitError, checkForeignJson } from '../../domain/foreign-json.ts'

/** Length of the frame, length of its headers, and a checksum of both; at the end a checksum of the frame. */
const preludeBytes = 12
const checksumBytes = 4

/**
 * Passes the frames of a stream on (`application/vnd.amazon.eventstream`) when they are complete and their JSON was
 * scanned. What is not a stream of such frames ends with an error.
 */
export async function* scanFrames(
  chunks: AsyncIterable<Uint8Array>,
  limits: { bytes: number },
): AsyncGenerator<Uint8Array> {
  // It grows by doubling: a server may send a frame byte by byte.
  let held = Buffer.alloc(64 * 1024)
  let used = 0
  for await (const chunk of chunks) {
    if (used + chunk.byteLength > held.length) {
      const larger = Buffer.alloc(2 * (used + chunk.byteLength))
      held.copy(larger, 0, 0, used)
      held = larger
    }
    held.set(chunk, used)
    used += chunk.byteLength
    let begin = 0
    while (used - begin >= preludeBytes) {
      const length = held.readUInt32BE(begin)
      const headers = held.readUInt32BE(begin + 4)
      if (length > limits.bytes) throw new JsonLimitError('bytes', limits.bytes)
      if (length < preludeBytes + headers + checksumBytes) throw new SyntaxError('This is not a stream of frames.')
      if (used - begin < length) break
      const payload = held.subarray(begin + preludeBytes + headers, begin + length - checksumBytes)
      checkForeignJson(payload.toString('utf8'), limits)
      begin += length
    }
    if (begin === 0) continue
    yield Uint8Array.from(held.subarray(0, begin))
    held.copyWithin(0, begin, used)
    used -= begin
  }
}
