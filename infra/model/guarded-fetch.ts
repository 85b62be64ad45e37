import { JsonLimitError, checkForeignJson } from '../../domain/foreign-json.ts'
import type { JsonLimits } from '../../domain/json-scan.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import { scanAnswer, scanEvents } from '../outbound/scan-answer.ts'
import { asEvents, eventsIn, isEnd } from './answer-events.ts'
import { withArgumentTexts } from './argument-texts.ts'
import { readErrorBody } from './error-body.ts'
import { scanFrames } from './scan-frames.ts'

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

/** Why what is left of an answer is not read. One for all: making an error takes longer than reading a short answer's event. */
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
