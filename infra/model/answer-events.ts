import { JsonLimitError } from '../../domain/foreign-json.ts'

const encoder = new TextEncoder()

/**
 * The bytes of an answer as a stream of events that ends with a whole event. A server that does not stream answers
 * with one JSON text, which becomes an event, whatever the content type says.
 */
export async function* asEvents(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let beginning: string | undefined = ''
  let whole: Uint8Array[] | undefined
  let bytes = 0
  for await (const chunk of chunks) {
    if (beginning !== undefined) {
      beginning += new TextDecoder().decode(chunk.subarray(0, 64))
      const [first] = beginning.trim()
      if (first === '{') whole = []
      if (first !== undefined) beginning = undefined
    }
    if (whole === undefined) {
      yield chunk
      continue
    }
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new JsonLimitError('bytes', maxBytes)
    whole.push(chunk)
  }
  if (whole === undefined) {
    // Some servers leave out the empty line after the last event.
    yield encoder.encode('\n\n')
    return
  }
  // Line ends in JSON are only between its values.
  const text = new TextDecoder().decode(Buffer.concat(whole)).replaceAll(/[\r\n]+/g, ' ')
  yield encoder.encode(`data: ${text}\n\ndata: [DONE]\n\n`)
}
