/** What a file is, by its first bytes and not by its name. */

const images: [type: string, matches: (bytes: Buffer) => boolean][] = [
  ['image/png', (bytes) => startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
  ['image/jpeg', (bytes) => startsWith(bytes, [0xff, 0xd8, 0xff])],
  ['image/gif', (bytes) => /^GIF8[79]a/.test(bytes.toString('latin1', 0, 6))],
  ['image/webp', (bytes) => textAt(bytes, 0, 'RIFF') && textAt(bytes, 8, 'WEBP')],
]

/** Undefined for anything but a PNG, JPEG, GIF or WebP image. */
export function imageTypeOf(bytes: Buffer): string | undefined {
  return images.find(([, matches]) => matches(bytes))?.[0]
}

/** Undefined for anything but WAV and MP3. */
export function audioTypeOf(bytes: Buffer): string | undefined {
  if (textAt(bytes, 0, 'RIFF') && textAt(bytes, 8, 'WAVE')) return 'audio/wav'
  const [first = 0, second = 0] = bytes
  // An ID3 tag, or the sync word of a frame of layer III.
  if (textAt(bytes, 0, 'ID3') || (first === 0xff && (second & 0xe6) === 0xe2)) return 'audio/mpeg'
  return undefined
}

/** Undefined for anything but a PDF and text in UTF-8. */
export function fileTypeOf(bytes: Buffer): string | undefined {
  if (textAt(bytes, 0, '%PDF-')) return 'application/pdf'
  if (bytes.includes(0)) return undefined
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return 'text/plain'
  } catch {
    return undefined
  }
}

function startsWith(bytes: Buffer, start: number[]): boolean {
  return start.every((byte, index) => bytes[index] === byte)
}

function textAt(bytes: Buffer, at: number, text: string): boolean {
  return bytes.toString('latin1', at, at + text.length) === text
}

/** What the bytes of a file are that a tool has written; it can be of any kind. */
export function writtenTypeOf(bytes: Buffer): string {
  return imageTypeOf(bytes) ?? audioTypeOf(bytes) ?? fileTypeOf(bytes) ?? 'application/octet-stream'
}
