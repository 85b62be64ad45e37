import { Readable } from 'node:stream'
import type { ReadableStream as WebStream } from 'node:stream/web'
import type OpenAI from 'openai'
import type { Listening, ListeningServer, SpeakingServer } from '../../services/audio/index.ts'
import { failureOf } from './failures.ts'
import { guardFetch, openClient } from './guarded-fetch.ts'

interface AudioServerOptions {
  baseUrl: string
  apiKey: string | undefined
  model: string
  /** Reaches the servers that the settings name. */
  fetch: typeof fetch
  /** A request fails after this time without a byte. */
  silenceMs?: number
}

/** A verbose answer with the times of all words of half an hour takes less than a megabyte. */
const maxTextBytes = 16 * 1024 * 1024
const whole = { containers: 200_000, members: 2_000_000 }
/** Four thousand characters take five minutes, which are 50 MB as plain samples. */
const maxSoundBytes = 128 * 1024 * 1024
const noKey = 'none'
/** Recordings take their server longer than texts. */
const usualSilenceMs = 300_000

/** The server of `TRANSCRIPTION_BASE_URL`, through the `openai` client, which is loaded with the first request. */
export function createListeningServer(options: AudioServerOptions): ListeningServer {
  const { baseUrl, apiKey = noKey, model, silenceMs = usualSilenceMs } = options
  return {
    name: model,
    async listen(kind, { name, contentType, bytes, members }, signal) {
      const guard = guardFetch(options.fetch, { silenceMs, maxBytes: maxTextBytes, maxEventBytes: maxTextBytes, whole })
      try {
        const client = await openClient({ apiKey, baseUrl, fetch: encoding(guard.fetch), silenceMs })
        const file = new File([Uint8Array.from(bytes)], name, { type: contentType })
        const response = await ask(client, kind, { file, model, ...grouped(members) }, signal)
        return { contentType: response.headers.get('content-type') ?? 'application/json', text: await response.text() }
      } catch (error) {
        signal.throwIfAborted()
        throw failureOf(guard.failure ?? error, apiKey)
      } finally {
        guard.close()
      }
    },
  }
}

/** The client's forms are those of Node, which a `fetch` of another library does not know: it gets their bytes. */
function encoding(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init = {}) => {
    if (!(init.body instanceof FormData)) return fetch(input, init)
    const form = new Response(init.body)
    const headers = new Headers(init.headers)
    headers.set('content-type', form.headers.get('content-type') ?? '')
    return fetch(input, { ...init, headers, body: await form.arrayBuffer() })
  }
}

/** The members were checked where they came in; servers have more of them than the types of the client. */
function ask(client: OpenAI, kind: Listening, body: object, signal: AbortSignal): Promise<Response> {
  const { transcriptions, translations } = client.audio
  return kind === 'transcriptions'
    ? transcriptions.create(body as OpenAI.Audio.TranscriptionCreateParamsNonStreaming<'json'>, { signal }).asResponse()
    : translations.create(body as OpenAI.Audio.TranslationCreateParams<'json'>, { signal }).asResponse()
}

/** Members that came several times (`timestamp_granularities[]`) are lists. */
function grouped(members: [name: string, value: string][]): Record<string, string | string[]> {
  const all = new Map<string, string | string[]>()
  for (const [name, value] of members) {
    if (!name.endsWith('[]')) {
      all.set(name, value)
      continue
    }
    const list = all.get(name.slice(0, -2))
    all.set(name.slice(0, -2), [...(Array.isArray(list) ? list : []), value])
  }
  return Object.fromEntries(all)
}

/** The server of `SPEECH_BASE_URL`. Its answer is passed on while it arrives. */
export function createSpeakingServer(options: AudioServerOptions & { voice: string }): SpeakingServer {
  const { baseUrl, apiKey = noKey, model, voice, silenceMs = usualSilenceMs } = options
  return {
    name: model,
    voice,
    async speak({ input, voice: wanted, others }, signal) {
      const guard = guardFetch(options.fetch, { silenceMs, maxBytes: maxSoundBytes, form: 'bytes' })
      try {
        const client = await openClient({ apiKey, baseUrl, fetch: guard.fetch, silenceMs })
        const body = { model, input, voice: wanted, ...others }
        const { headers, body: sound } = await client.audio.speech.create(body, { signal }).asResponse()
        if (sound === null) throw new Error('The server sent no sound.')
        const bytes = Readable.fromWeb(sound as WebStream<Uint8Array>, { signal })
        bytes.once('close', guard.close)
        return { contentType: soundType(headers.get('content-type')), bytes }
      } catch (error) {
        guard.close()
        signal.throwIfAborted()
        throw failureOf(guard.failure ?? error, apiKey)
      }
    },
  }
}

/** A server's word for its answer is shown to callers only if it is that of a sound: a page would be opened. */
function soundType(given: string | null): string {
  const [type = ''] = (given ?? '').split(';')
  return /^audio\/[\w.+-]{1,60}$/.test(type.trim()) ? type.trim() : 'application/octet-stream'
}
