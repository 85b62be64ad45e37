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
  let waiting = Buffer.alloc(0)
  for await (const chunk of chunks) {
    waiting = waiting.length === 0 ? Buffer.from(chunk) : Buffer.concat([waiting, chunk])
    let begin = 0
    while (waiting.length - begin >= preludeBytes) {
      const length = waiting.readUInt32BE(begin)
      const headers = waiting.readUInt32BE(begin + 4)
      if (length > limits.bytes) throw new JsonLimitError('bytes', limits.bytes)
      if (length < preludeBytes + headers + checksumBytes) throw new SyntaxError('This is not a stream of frames.')
      if (waiting.length - begin < length) break
      const payload = waiting.subarray(begin + preludeBytes + headers, begin + length - checksumBytes)
      checkForeignJson(payload.toString('utf8'), limits)
      begin += length
    }
    if (begin > 0) yield Uint8Array.from(waiting.subarray(0, begin))
    waiting = waiting.subarray(begin)
  }
}
