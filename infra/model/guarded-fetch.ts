import type OpenAI from 'openai'
import { type JsonLimits, JsonLimitError, checkForeignJson } from '../../domain/foreign-json.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import { scanAnswer, scanEvents } from '../outbound/scan-answer.ts'
import { readErrorBody } from './error-body.ts'
import { invalid, withArgumentTexts } from './foreign-values.ts'

export interface AnswerLimits {
  /** A server that sends no byte for this long has failed. */
  silenceMs: number
}

interface SizeLimits {
  /** All bytes of an answer. Default: far more than the text of any answer needs. */
  maxBytes?: number
  /** One server-sent event is held in memory and parsed at once. */
  maxEventBytes?: number
  /** What an answer may hold that is one JSON text. Without it, the answer is read as a stream of events. */
  whole?: Pick<JsonLimits, 'containers' | 'members'>
  /** Server-sent events, the frames of AWS, or what is not JSON. */
  form?: 'events' | 'frames' | 'bytes'
  /** Passes the data of an event on in another form. */
  rewrite?: (data: string) => string
}

/**
 * Why what is left of an answer is not read. One for all: making an error takes longer than reading a short answer's
 * event.
 */
const ended = new DOMException('The answer has ended.', 'AbortError')

/** Of an error's body only the beginning is read. */
const maxErrorBytes = 64 * 1024

/**
 * A `fetch` for one request to a model's server: ends it when the server is silent, or sends more than
 * can be handled. The client gets only JSON that was scanned. `failure` then says why; the client in between does not
 * hand such errors on.
 */
export function guardFetch(
  fetch: typeof globalThis.fetch,
  {
    silenceMs,
    maxBytes = 64 * 1024 * 1024,
    maxEventBytes = 4 * 1024 * 1024,
    whole,
    form = 'events',
    rewrite = withArgumentTexts,
  }: AnswerLimits & SizeLimits,
) {
  const stop = new AbortController()
  let failure: ModelFailure | undefined
  let sawEnd = false

  const silence = setTimeout(() => {
    fail(
      new ModelFailure(`The model's server sent nothing for ${silenceMs / 1000} seconds.`, {
        statusCode: 504,
        type: 'model_timeout',
        retryable: true,
      }),
    )
  }, silenceMs)

  function fail(reason: ModelFailure): void {
    failure ??= reason
    stop.abort(reason)
  }

  async function* watched(body: ReadableStream<Uint8Array>, isError: boolean): AsyncGenerator<Uint8Array> {
    let total = 0
    for await (const chunk of body) {
      silence.refresh()
      total += chunk.byteLength
      if (isError && total > maxErrorBytes) return
      if (total > maxBytes) fail(tooLong(`sent more than ${maxBytes} bytes`))
      stop.signal.throwIfAborted()
      yield chunk
    }
  }

  async function* scanned(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      if (form === 'bytes') yield* chunks
      else if (form === 'frames') yield* scanFrames(chunks, { bytes: maxEventBytes })
      else
        yield* scanEvents(asEvents(chunks, maxEventBytes), { bytes: maxEventBytes }, (data) => {
          const events = eventsIn(data)
          sawEnd ||= events.some(isEnd)
          return events.map(rewrite)
        })
    } catch (error) {
      refuse(error, 'an event that')
    }
  }

  function refuse(error: unknown, what: string): never {
    if (error instanceof JsonLimitError) fail(tooLong(`sent ${what} ${error.message}`))
    if (error instanceof ModelFailure) fail(error)
    throw error
  }

  return {
    fetch: async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
      const signals = init.signal ? [init.signal, stop.signal] : [stop.signal]
      const response = await fetch(input, { ...init, signal: AbortSignal.any(signals) })
      silence.refresh()
      if (response.body === null) return response
      const bytes = watched(response.body, !response.ok)
      const { status, statusText } = response
      const headers = [...response.headers]
      if (!response.ok) return new Response(await errorText(bytes), { status, statusText, headers })
      if (whole === undefined) return new Response(ReadableStream.from(scanned(bytes)), { status, statusText, headers })
      const answer = new Response(ReadableStream.from(bytes), { status, statusText, headers })
      return scanAnswer(answer, { ...whole, bytes: maxBytes }).catch((error: unknown) =>
        refuse(error, 'an answer that'),
      )
    },
    get failure() {
      return failure
    },
    /** Whether a stream of events had the event that ends it. */
    get sawEnd() {
      return sawEnd
    },
    /** Call this when the answer has ended, or is given up: what the client has not read, and may go on to read, ends. */
    close: () => {
      clearTimeout(silence)
      stop.abort(ended)
    },
  }
}

/** The client parses an error's body, in one form. The status is enough where the body is broken off or holds too much. */
async function errorText(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  try {
    const text = await new Response(ReadableStream.from(bytes)).text()
    checkForeignJson(text, { bytes: Infinity })
    return readErrorBody(text)
  } catch {
    return ''
  }
}

function tooLong(what: string): ModelFailure {
  return new ModelFailure(`The model's server ${what}.`, {
    statusCode: 502,
    type: 'model_answer_too_long',
    retryable: false,
  })
}

const encoder = new TextEncoder()

/**
 * The bytes of an answer as a stream of events that ends with a whole event. A server that does not stream answers
 * with one JSON text, or with one a line, which become events, whatever the content type says.
 */
async function* asEvents(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let beginning: string | undefined = ''
  let whole: Uint8Array[] | undefined
  let bytes = 0
  for await (const chunk of chunks) {
    if (beginning !== undefined) {
      beginning += new TextDecoder().decode(chunk.subarray(0, 64))
      const [first] = beginning.trim()
      if (first === '<') throw invalid('it is a page')
      if (first === '{' || first === '[') whole = []
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
  const lines = new TextDecoder()
    .decode(Buffer.concat(whole))
    .split(/[\r\n]+/)
    .filter((line) => line.trim() !== '')
  // Line ends in JSON are only between its values.
  const texts = lines.every(isObject) ? lines : [lines.join(' ')]
  yield encoder.encode(`${texts.map((text) => `data: ${text}\n\n`).join('')}data: [DONE]\n\n`)
}

const isObject = (line: string) => /^\s*\{.*\}\s*$/.test(line)

/**
 * The data of one event as that of the events that were meant. Nothing of an empty one; several where a server ends them
 * with one line end; `null` for the numbers that JSON has not.
 */
export function eventsIn(data: string): string[] {
  if (data.startsWith('{') && !data.includes('\n') && !data.includes('NaN') && !data.includes('Infinity')) return [data]
  const lines = data.includes('\n') ? data.split('\n').filter((line) => line.trim() !== '') : [data]
  const texts = lines.length > 1 && lines.every((line) => isObject(line) || isEnd(line)) ? lines : [data]
  return texts.flatMap((text) => {
    if (isEnd(text)) return ['[DONE]']
    if (text.trim() === '') return []
    return /\b(?:NaN|Infinity)\b/.test(text) ? [withoutOddNumbers(text)] : [text]
  })
}

const isEnd = (data: string): boolean => data.length < 50 && data.trim() === '[DONE]'

/**
 * A text without an end goes on to the end of all: were it no match, each quote in it would be looked at as its
 * beginning.
 */
const textOrOddNumber = /"(?:[^"\\]|\\.?)*"?|-?\bInfinity\b|\bNaN\b/gs

function withoutOddNumbers(text: string): string {
  return text.replaceAll(textOrOddNumber, (found) => (found.startsWith('"') ? found : 'null'))
}

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
  let buffered = Buffer.alloc(64 * 1024)
  let used = 0
  for await (const chunk of chunks) {
    if (used + chunk.byteLength > buffered.length) {
      const larger = Buffer.alloc(2 * (used + chunk.byteLength))
      buffered.copy(larger, 0, 0, used)
      buffered = larger
    }
    buffered.set(chunk, used)
    used += chunk.byteLength
    let begin = 0
    while (used - begin >= preludeBytes) {
      const length = buffered.readUInt32BE(begin)
      const headers = buffered.readUInt32BE(begin + 4)
      if (length > limits.bytes) throw new JsonLimitError('bytes', limits.bytes)
      if (length < preludeBytes + headers + checksumBytes) throw new SyntaxError('This is not a stream of frames.')
      if (used - begin < length) break
      const payload = buffered.subarray(begin + preludeBytes + headers, begin + length - checksumBytes)
      checkForeignJson(payload.toString('utf8'), limits)
      begin += length
    }
    if (begin === 0) continue
    yield Uint8Array.from(buffered.subarray(0, begin))
    buffered.copyWithin(0, begin, used)
    used -= begin
  }
}

export const defaultBaseUrl = 'https://api.openai.com/v1'

interface ClientOptions {
  apiKey: string
  baseUrl: string | undefined
  /** Limits the silence of the server itself (`guarded-fetch.ts`). */
  fetch: typeof fetch
  silenceMs: number
}

/**
 * The `openai` client of one request; the package is loaded with the first. Its own retries are off, because Temporal
 * retries.
 */
export async function openClient({ apiKey, baseUrl, fetch, silenceMs }: ClientOptions): Promise<OpenAI> {
  const { OpenAI: Client } = await import('openai')
  return new Client({
    apiKey,
    baseURL: baseUrl ?? defaultBaseUrl,
    organization: null,
    project: null,
    maxRetries: 0,
    // The limit of `fetch` comes first: it says what happened.
    timeout: 2 * silenceMs,
    logLevel: 'off',
    fetch,
  })
}
