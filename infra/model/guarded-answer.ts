import type { Dispatcher } from 'undici'
import { ModelFailure } from '../../domain/model-failure.ts'
import { createEventReader } from './event-reader.ts'

export interface AnswerLimits {
  /** A server that sends no byte for this long has failed. */
  silenceMs: number
}

/** All bytes of an answer: far more than the text of any answer needs. */
const maxBodyBytes = 64 * 1024 * 1024
/** One server-sent event is held in memory and parsed at once. */
const maxEventLength = 4 * 1024 * 1024
/** Of an error's body only the beginning is read. */
const maxErrorBytes = 64 * 1024

type Body = Dispatcher.ResponseData['body']

/**
 * Ends a request to a model's server that is silent, or sends more than can be handled. `signal` is for the
 * request; `failure` says why it was aborted, which the error of the aborted request does not.
 */
export function guardAnswer({ silenceMs }: AnswerLimits) {
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

  function fail(reason: ModelFailure): ModelFailure {
    failure ??= reason
    stop.abort(reason)
    return reason
  }

  async function* chunksOf(body: Body): AsyncGenerator<Uint8Array> {
    let total = 0
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      silence.refresh()
      total += chunk.byteLength
      if (total > maxBodyBytes) throw fail(tooLong(`${maxBodyBytes} bytes`))
      yield chunk
    }
  }

  return {
    signal: stop.signal,
    /** The data of each event of the answer, those that came together at once. */
    async *events(body: Body): AsyncGenerator<string[]> {
      const reader = createEventReader(maxEventLength, () => tooLong(`${maxEventLength} bytes in one event`))
      for await (const chunk of chunksOf(body)) {
        const events = [...reader.read(chunk)]
        if (events.length > 0) yield events
      }
      const last = reader.end()
      if (last !== undefined) yield [last]
    },
    /** The beginning of an answer that is an error. */
    async errorText(body: Body): Promise<string> {
      const chunks: Uint8Array[] = []
      let total = 0
      for await (const chunk of chunksOf(body)) {
        chunks.push(chunk)
        total += chunk.byteLength
        if (total >= maxErrorBytes) break
      }
      return Buffer.concat(chunks).subarray(0, maxErrorBytes).toString()
    },
    get failure() {
      return failure
    },
    /** To be called when the answer is over, or nobody reads it any more. */
    close: () => clearTimeout(silence),
  }
}

function tooLong(limit: string): ModelFailure {
  return new ModelFailure(`The model's server sent more than ${limit}.`, {
    statusCode: 502,
    type: 'model_answer_too_long',
    retryable: false,
  })
}
