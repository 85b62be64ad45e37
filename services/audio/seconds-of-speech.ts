import { isJsonObject } from '../../domain/is-json-object.ts'
import { parseForeignJson } from '../../domain/foreign-json.ts'

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
export function secondsOfSpeech(answer: string, { name, bytes }: { name: string; bytes: Buffer }): number {
  const told = statedSeconds(answer)
  if (told !== undefined) return told
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
