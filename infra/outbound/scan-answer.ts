import { createParser } from 'eventsource-parser'
import { type JsonLimits, JsonLimitError, checkForeignJson } from '../../domain/foreign-json.ts'

type Limits = Partial<JsonLimits> & Pick<JsonLimits, 'bytes'>

const eventStream = 'text/event-stream'

/** A `fetch` for a library that parses answers itself: it gets only those that `checkForeignJson` admits. */
export function scanningFetch(fetch: typeof globalThis.fetch, limits: Limits): typeof globalThis.fetch {
  return async (input, init) => scanAnswer(await fetch(input, init), limits)
}

/**
 * The same response after a look at its text: whole, or event by event in a stream of server-sent events. Throws
 * `JsonLimitError`; in a stream, reading fails with it.
 */
export async function scanAnswer(response: Response, limits: Limits): Promise<Response> {
  if (response.body === null) return response
  const { status, statusText } = response
  // What was unpacked has neither the length nor the encoding that the headers name.
  const headers = new Headers([...response.headers].filter(([name]) => !/^content-(length|encoding)$/i.test(name)))
  const type = (headers.get('content-type') ?? '').toLowerCase()
  if (type.includes(eventStream)) {
    headers.set('content-type', eventStream)
    return new Response(ReadableStream.from(scanEvents(response.body, limits)), { status, statusText, headers })
  }
  const text = await scanWhole(response.body, limits)
  // One type without parameters: a library that reads the header in another way must not find a stream in it.
  headers.set('content-type', /^[^;,]*/.exec(type)?.[0].trim() || 'application/octet-stream')
  return new Response(text, { status, statusText, headers })
}

/**
 * Passes server-sent events on when they are complete and their data was scanned, and times to come again (`retry`);
 * nothing else of the stream. Each is written anew, because a line that this parser skips could be read by another.
 * What arrives between the ends of two events is bounded by `limits.bytes`, too. `rewrite` may pass other data on, as
 * any number of events.
 */
export async function* scanEvents(
  chunks: AsyncIterable<Uint8Array>,
  limits: Limits,
  rewrite = (data: string): string[] => [data],
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let complete = ''
  let unfinished = 0
  const parser = createParser({
    onEvent({ id, event, data: sent }) {
      checkForeignJson(sent, limits)
      for (const data of rewrite(sent)) {
        if (event !== undefined) complete += `event: ${event}\n`
        if (id !== undefined) complete += `id: ${id}\n`
        complete += `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`
      }
      unfinished = 0
    },
    // When the client may come again.
    onRetry(ms) {
      complete += `retry: ${ms}\n`
    },
  })
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true })
    unfinished += text.length
    if (unfinished > limits.bytes) throw new JsonLimitError('bytes', limits.bytes)
    parser.feed(text)
    if (complete !== '') yield encoder.encode(complete)
    complete = ''
  }
}

async function scanWhole(chunks: AsyncIterable<Uint8Array>, limits: Limits): Promise<string> {
  const decoder = new TextDecoder()
  const pieces: string[] = []
  let left = limits.bytes
  for await (const chunk of chunks) {
    left -= chunk.byteLength
    // Leaving the loop cancels the rest.
    if (left < 0) throw new JsonLimitError('bytes', limits.bytes)
    pieces.push(decoder.decode(chunk, { stream: true }))
  }
  const text = pieces.join('') + decoder.decode()
  checkForeignJson(text, limits)
  return text
}
