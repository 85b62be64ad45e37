import { refusalOf } from '../../../client/src/create-client.ts'
import { tokenOf } from './api.ts'
import { createListeners } from './listeners.ts'

/** Sends a recording to the service; resolves with what was said. */
export async function writeDown(recording: Blob, signal: AbortSignal): Promise<string> {
  const body = new FormData()
  body.set('model', 'whisper-1')
  body.set('response_format', 'json')
  body.set('file', recording, `message.${recording.type.includes('mp4') ? 'mp4' : 'webm'}`)
  const answer = await ask('/v1/audio/transcriptions', { method: 'POST', body, signal })
  const { text } = (await answer.json()) as { text: string }
  return text.trim()
}

async function ask(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${tokenOf() ?? ''}`)
  const response = await fetch(path, { ...init, headers })
  if (!response.ok) throw await refusalOf(response)
  return response
}

/** As much as the service reads aloud at once. */
const maxLength = 4096
type Spoken = { key: string; state: 'loading' | 'speaking' }

let spoken: Spoken | undefined
let stop = () => {}
const { notify, useRead } = createListeners()

function change(next: Spoken | undefined): void {
  spoken = next
  notify()
}

/** What is being read aloud, of all that can be: one at a time. */
export function useSpoken(): Spoken | undefined {
  return useRead(() => spoken)
}

/** `only`: if it is this that is read. */
export function stopSpeaking(only?: string): void {
  if (only !== undefined && spoken?.key !== only) return
  stop()
  stop = () => {}
  change(undefined)
}

/**
 * Reads a text aloud, in pieces that the service takes; without its server with the browser's own voice. Rejects if the
 * service refuses; what was read until then stays read.
 */
export async function speak(key: string, text: string, hasServer: boolean): Promise<void> {
  stopSpeaking()
  const mine: Spoken = { key, state: 'loading' }
  change(mine)
  const isMine = () => spoken?.key === key
  try {
    for (const piece of piecesOf(text)) {
      if (!isMine()) return
      await (hasServer ? play(key, piece) : utter(key, piece))
    }
  } finally {
    if (isMine()) stopSpeaking()
  }
}

async function play(key: string, input: string): Promise<void> {
  const leave = new AbortController()
  stop = () => leave.abort()
  let url: string | undefined
  try {
    const sound = await ask('/v1/audio/speech', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'tts-1', input }),
      signal: leave.signal,
    })
    url = URL.createObjectURL(await sound.blob())
    const player = new Audio(url)
    await new Promise<void>((resolve, reject) => {
      stop = () => {
        player.pause()
        resolve()
      }
      player.addEventListener('ended', () => resolve())
      player.addEventListener('error', () => reject(new TypeError('the sound cannot be played')))
      change({ key, state: 'speaking' })
      player.play().catch(reject)
    })
  } catch (error) {
    if (!leave.signal.aborted) throw error
  } finally {
    if (url !== undefined) URL.revokeObjectURL(url)
  }
}

function utter(key: string, text: string): Promise<void> {
  return new Promise((resolve) => {
    const utterance = new SpeechSynthesisUtterance(text)
    utterance.lang = document.documentElement.lang
    utterance.addEventListener('end', () => resolve())
    utterance.addEventListener('error', () => resolve())
    stop = () => {
      speechSynthesis.cancel()
      resolve()
    }
    change({ key, state: 'speaking' })
    speechSynthesis.speak(utterance)
  })
}

/** Whole sentences where they fit. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = []
  let rest = text.trim()
  while (rest.length > maxLength) {
    const begin = rest.slice(0, maxLength)
    const end = Math.max(begin.lastIndexOf('. '), begin.lastIndexOf('\n'), begin.lastIndexOf('。'))
    const cut = end > maxLength / 2 ? end + 1 : Math.max(begin.lastIndexOf(' '), 0) || maxLength
    pieces.push(rest.slice(0, cut))
    rest = rest.slice(cut).trim()
  }
  return rest === '' ? pieces : [...pieces, rest]
}
