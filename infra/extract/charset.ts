import chardet from 'chardet'
import { type Content, streamOf } from './content.ts'
import { charsetByLetters, easternByLetters } from './language-letters.ts'

/** What statistics are made of: lines with bytes beyond ASCII, from all of the file. */
const sampleBytes = 128 * 1024

/**
 * The encoding of a text file, as a label that `createDecoder` accepts: byte order mark, then UTF-8 if all bytes are
 * valid UTF-8, then UTF-16 by its zero bytes, then statistics. All of the file is read: it may have megabytes of ASCII
 * before its first accent.
 */
export async function detectCharset(content: Content): Promise<string> {
  let head: Buffer | undefined
  let isUtf8 = true
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  const samples: Buffer[] = []
  let sampled = 0
  for await (const bytes of streamOf(content)) {
    head ??= bytes
    if (markOf(head) !== undefined) break
    if (isUtf8) isUtf8 = isValid(utf8, bytes)
    if (sampled < sampleBytes) {
      const lines = linesBeyondAscii(bytes, sampleBytes - sampled)
      sampled += lines.length
      samples.push(lines)
    }
    if (!isUtf8 && sampled >= sampleBytes) break
  }
  return charsetOf(head ?? Buffer.alloc(0), Buffer.concat(samples), isUtf8)
}

/** The encoding of the beginning of a file. */
export function charsetOfHead(head: Buffer): string {
  return charsetOf(head, linesBeyondAscii(head, sampleBytes), isValid(new TextDecoder('utf-8', { fatal: true }), head))
}

function charsetOf(head: Buffer, sample: Buffer, isUtf8: boolean): string {
  const marked = markOf(head) ?? utf16Without(head)
  if (marked !== undefined) return marked
  if (isUtf8) return 'utf-8'
  const charset = charsetByLetters(sample) ?? guess(sample)
  return charset === 'windows-1252' && isLatin9(sample) ? 'iso-8859-15' : charset
}

/** Instead of `¤`, and of fractions within words, its newer standard has `€` and `œ`. */
function isLatin9(sample: Buffer): boolean {
  if (sample.some((byte) => byte >= 0x80 && byte < 0xa0)) return false
  return sample.includes(0xa4) || /\p{L}[¼½¾]|[¼½¾]\p{L}/u.test(sample.toString('latin1'))
}

function markOf(head: Buffer): string | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  return undefined
}

function isValid(decoder: InstanceType<typeof TextDecoder>, bytes: Buffer): boolean {
  try {
    decoder.decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

/** At most `most` bytes of the lines that say something about the encoding. */
function linesBeyondAscii(bytes: Buffer, most: number): Buffer {
  const parts: Buffer[] = []
  let taken = 0
  for (let start = 0; start < bytes.length && taken < most;) {
    const end = bytes.indexOf(0x0a, start)
    const line = bytes.subarray(start, end < 0 ? bytes.length : end + 1)
    start += line.length
    if (!line.some((byte) => byte >= 0x80)) continue
    parts.push(line.subarray(0, most - taken))
    taken += line.length
  }
  return Buffer.concat(parts)
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

/** The detector knows the most frequent words of a language, which a table of names and amounts does not have. */
const unsure = 15

function guess(sample: Buffer): string {
  const matches = chardet.analyse(sample)
  const best = matches[0]
  if (!best) return 'windows-1252'
  const eastern = best.confidence <= unsure ? easternByLetters(sample) : undefined
  if (eastern !== undefined) return eastern
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
