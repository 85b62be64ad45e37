import { type FileHandle, open } from 'node:fs/promises'
import chardet from 'chardet'

const headBytes = 256 * 1024
const sampleBytes = 64 * 1024

/**
 * The encoding of a text file, as a label that `TextDecoder` accepts: byte order mark, then UTF-8 if the bytes are
 * valid UTF-8, then UTF-16 by its zero bytes, then statistics.
 */
export async function detectCharset(path: string): Promise<string> {
  const handle = await open(path)
  try {
    return charsetOf(await readSamples(handle))
  } finally {
    await handle.close()
  }
}

/** Beginning, middle and end: a file may have kilobytes of ASCII before its first accent. */
async function readSamples(handle: FileHandle): Promise<Buffer[]> {
  const { size } = await handle.stat()
  const samples = [await readAt(handle, 0, headBytes)]
  if (size > headBytes) samples.push(await readAt(handle, Math.floor(size / 2), sampleBytes))
  if (size > headBytes) samples.push(await readAt(handle, Math.max(headBytes, size - sampleBytes), sampleBytes))
  return samples
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

export function charsetOf(samples: Buffer[]): string {
  const head = samples[0] ?? Buffer.alloc(0)
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  if (samples.every(isUtf8)) return 'utf-8'
  return utf16Without(head) ?? guess(samples)
}

/** A sample may begin or end in the middle of a character. */
function isUtf8(sample: Buffer): boolean {
  let start = 0
  while (start < 4 && ((sample[start] ?? 0) & 0xc0) === 0x80) start++
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(sample.subarray(start), { stream: true })
    return true
  } catch {
    return false
  }
}

/** UTF-16 without a byte order mark: every second byte of Western text is zero. */
function utf16Without(sample: Buffer): string | undefined {
  const pairs = Math.floor(Math.min(sample.length, 4096) / 2)
  let even = 0
  let odd = 0
  for (let index = 0; index < pairs; index++) {
    if (sample[index * 2] === 0) even++
    if (sample[index * 2 + 1] === 0) odd++
  }
  if (odd > pairs * 0.4 && even < pairs * 0.05) return 'utf-16le'
  if (even > pairs * 0.4 && odd < pairs * 0.05) return 'utf-16be'
  return undefined
}

function guess(samples: Buffer[]): string {
  const matches = chardet.analyse(Buffer.concat(samples))
  const best = matches[0]
  if (!best) return 'windows-1252'
  // The detector narrowly prefers Central European encodings for short Western texts.
  const western = matches.find((match) => match.name === 'ISO-8859-1' || match.name === 'windows-1252')
  if (western && western.confidence >= best.confidence - 15 && isSingleByteLatin(best.name)) return 'windows-1252'
  return decodable(best.name) ?? 'windows-1252'
}

function isSingleByteLatin(name: string): boolean {
  return /^(ISO-8859-(1|2|9|15)|windows-125[0249])$/.test(name)
}

function decodable(name: string): string | undefined {
  try {
    return new TextDecoder(name).encoding
  } catch {
    return undefined
  }
}
