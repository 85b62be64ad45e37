import { ModelFailure } from '../../domain/model-failure.ts'

export interface AnswerLimits {
  /** A server that sends no byte for this long has failed. */
  silenceMs: number
}

interface SizeLimits {
  /** All bytes of an answer. Default: far more than the text of any answer needs. */
  maxBytes?: number
  /** One server-sent event is held in memory and parsed at once. */
  maxEventBytes?: number
}

/** Of an error's body only the beginning is read. */
const maxErrorBytes = 64 * 1024

/**
 * A `fetch` for one request to a model's server: ends it when the server is silent, or sends more than
 * can be handled. `failure` then says why; the client in between does not hand such errors on.
 */
export function guardFetch(
  fetch: typeof globalThis.fetch,
  { silenceMs, maxBytes = 64 * 1024 * 1024, maxEventBytes = 4 * 1024 * 1024 }: AnswerLimits & SizeLimits,
) {
  const stop = new AbortController()
  let failure: ModelFailure | undefined

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
    const events = createEventMeter()
    let total = 0
    for await (const chunk of body) {
      silence.refresh()
      total += chunk.byteLength
      if (isError && total > maxErrorBytes) return
      if (total > maxBytes) fail(tooLong(`${maxBytes} bytes`))
      if (events.add(chunk) > maxEventBytes) fail(tooLong(`${maxEventBytes} bytes in one event`))
      stop.signal.throwIfAborted()
      yield chunk
    }
  }

  return {
    fetch: async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
      const signals = init.signal ? [init.signal, stop.signal] : [stop.signal]
      const response = await fetch(input, { ...init, signal: AbortSignal.any(signals) })
      silence.refresh()
      if (response.body === null) return response
      const body = ReadableStream.from(watched(response.body, !response.ok))
      const { status, statusText, headers } = response
      return new Response(body, { status, statusText, headers: [...headers] })
    },
    get failure() {
      return failure
    },
    /** Call this when the answer has ended. */
    close: () => clearTimeout(silence),
  }
}

/** Counts the bytes of the server-sent event under way: an empty line ends it. */
function createEventMeter() {
  let eventBytes = 0
  let lineBytes = 0
  return {
    /** The length of the longest event that was under way in this chunk. */
    add(chunk: Uint8Array): number {
      let longest = 0
      let start = 0
      for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
        lineBytes += end - start
        eventBytes += end - start + 1
        longest = Math.max(longest, eventBytes)
        // With line ends of two characters, an empty line contains the first of them.
        if (lineBytes === 0 || (lineBytes === 1 && chunk[end - 1] === carriageReturn)) eventBytes = 0
        lineBytes = 0
        start = end + 1
      }
      lineBytes += chunk.length - start
      eventBytes += chunk.length - start
      return Math.max(longest, eventBytes)
    },
  }
}

const lineFeed = 0x0a
const carriageReturn = 0x0d

function tooLong(limit: string): ModelFailure {
  return new ModelFailure(`The model's server sent more than ${limit}.`, {
    statusCode: 502,
    type: 'model_answer_too_long',
    retryable: false,
  })
}
