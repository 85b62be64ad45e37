import type { Readable } from 'node:stream'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { parseForeignJson } from '../../domain/foreign-json.ts'
import { isJsonObject } from '../../domain/json.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import type { WorkUsage } from '../budgets/work.ts'
import { refusalOfServer } from '../models/refusal-of-server.ts'

export type Listening = 'transcriptions' | 'translations'

/** A recording, and the members of the interface that its server is to follow, as texts. */
export interface Recording {
  name: string
  contentType: string
  bytes: Buffer
  members: [name: string, value: string][]
}

interface SpokenText {
  input: string
  voice: string
  /** Members that the caller set: the format, the speed, instructions. */
  others: Record<string, string | number>
}

/** The servers of the interface's `/audio`. Each throws `ModelFailure`. */
export interface ListeningServer {
  /** The model's name in the settings. */
  readonly name: string
  /** What the server answers: JSON, or a text in the form that was wanted. */
  listen(kind: Listening, recording: Recording, signal: AbortSignal): Promise<{ contentType: string; text: string }>
}
export interface SpeakingServer {
  readonly name: string
  /** Used where the caller names none. */
  readonly voice: string
  speak(text: SpokenText, signal: AbortSignal): Promise<{ contentType: string; bytes: Readable }>
}

interface AudioDeps {
  listening: ListeningServer | undefined
  speaking: SpeakingServer | undefined
  workUsage: Pick<WorkUsage, 'note' | 'admit'>
}

/** The names that clients use when nobody has set one: they mean the model of the settings. */
const usualNames = ['whisper-1', 'tts-1']

/** Recordings in memory at once, of all callers of a process. */
const maxReservedBytes = 256 * 1024 * 1024

/**
 * What is said, written down, and texts, read aloud, by the servers of the settings. The seconds and characters count as
 * work of the project.
 */
export function createAudio({ listening, speaking, workUsage }: AudioDeps) {
  let reservedBytes = 0

  return {
    /** The names of the models that are configured. */
    models: [listening?.name, speaking?.name].filter((name) => name !== undefined),
    canListen: listening !== undefined,
    canSpeak: speaking !== undefined,

    /**
     * Takes room for the bytes of a recording that is being received; the function that is returned gives it back.
     * Throws `too_many_requests` while others fill it.
     */
    reserve(bytes: number): () => void {
      if (reservedBytes + bytes > maxReservedBytes)
        throw new AppError('too_many_requests', 'Too many recordings are being received.', { retryAfterSeconds: 2 })
      reservedBytes += bytes
      return () => {
        reservedBytes -= bytes
      }
    },

    /**
     * Throws `unavailable` without a server, `not_found` for another model, the refusal of a spent budget, and the
     * failures of the server.
     */
    async listen(
      {
        projectId,
        model,
        kind,
        recording,
      }: { projectId: string; model: string; kind: Listening; recording: Recording },
      signal: AbortSignal,
    ): Promise<{ contentType: string; text: string }> {
      if (listening === undefined)
        throw new AppError('unavailable', 'No server writes down speech here (TRANSCRIPTION_BASE_URL).')
      requireModel(model, listening.name)
      await workUsage.admit({ projectId })
      const answer = await listening.listen(kind, recording, signal).catch(refuse)
      await workUsage.note({ projectId }, { transcription_seconds: secondsOfSpeech(answer.text, recording) })
      return answer
    },

    async speak(
      {
        projectId,
        model,
        text,
      }: { projectId: string; model: string; text: Omit<SpokenText, 'voice'> & { voice?: string } },
      signal: AbortSignal,
    ): Promise<{ contentType: string; bytes: Readable }> {
      if (speaking === undefined)
        throw new AppError('unavailable', 'No server reads texts aloud here (SPEECH_BASE_URL).')
      requireModel(model, speaking.name)
      await workUsage.admit({ projectId })
      const answer = await speaking.speak({ ...text, voice: text.voice ?? speaking.voice }, signal).catch(refuse)
      await workUsage.note({ projectId }, { speech_characters: text.input.length })
      return answer
    },
  }
}

function requireModel(model: string, name: string): void {
  if (model !== name && !usualNames.includes(model))
    throw invalidInput(['body', 'model'], `is not known here; the model is ${name}`, 'unknown_model')
}

function refuse(error: unknown): never {
  throw error instanceof ModelFailure ? refusalOfServer(error) : error
}

/** Bytes of a second at the usual rates, by the end of the file's name; others are taken as MP3. */
const bytesOfSecond: Record<string, number> = {
  wav: 32_000,
  flac: 16_000,
  ogg: 4000,
  oga: 4000,
  opus: 4000,
  webm: 4000,
}
const usualBytesOfSecond = 16_000

/**
 * How long a recording is: as the server says (`duration` of a verbose answer, `usage.seconds` of a plain one), else by
 * its size.
 */
function secondsOfSpeech(answer: string, { name, bytes }: { name: string; bytes: Buffer }): number {
  const stated = statedSeconds(answer)
  if (stated !== undefined) return stated
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  const rate = Object.hasOwn(bytesOfSecond, ending) ? bytesOfSecond[ending] : undefined
  return bytes.length / (rate ?? usualBytesOfSecond)
}

function statedSeconds(answer: string): number | undefined {
  if (!answer.trimStart().startsWith('{')) return undefined
  try {
    const value = parseForeignJson(answer, { bytes: Infinity })
    if (!isJsonObject(value)) return undefined
    const { usage } = value
    const seconds = Number(value['duration'] ?? (isJsonObject(usage) ? usage['seconds'] : undefined))
    return Number.isFinite(seconds) && seconds >= 0 && seconds < 1_000_000 ? seconds : undefined
  } catch {
    return undefined
  }
}
