import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { type Content, bytesOf } from '../content.ts'
import type { ScanReader } from '../ocr/scan.ts'

/** The text of a picture that is a file, and of each page of a TIFF. */
export async function* readPicture(content: Content, extension: string, scans: ScanReader): AsyncGenerator<Block> {
  const bytes = await bytesOf(content)
  const isTiff = extension === 'tif'
  const places = isTiff ? tiffDirectories(bytes) : []
  const pages = Math.max(1, places.length)
  let found = false
  for (let page = 1; page <= pages; page++) {
    if (pages > 1) beginWith(bytes, places[page - 1] ?? 0)
    const text = await scans.read(page, () => Promise.resolve({ bytes }))
    if (text === undefined) continue
    found = true
    yield { kind: 'text', text, ...(pages > 1 && { page }) }
  }
  if (found) return
  const givenUp = scans.whyGivenUp()
  throw new UnreadableFile(
    'no_text',
    givenUp === undefined ? 'No legible words were found in this picture.' : `This picture was not read: ${givenUp}.`,
  )
}

/** More would only be a loop. */
const maxTiffPages = 10_000

/**
 * Places of the directories of a TIFF, one for each page (TIFF 6.0, section 2: bytes 4 to 7 hold the place of the
 * first, and each ends with the place of the next).
 */
function tiffDirectories(bytes: Buffer): number[] {
  const isLittle = isLittleEndian(bytes)
  const int16 = (at: number) => (isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at))
  const int32 = (at: number) => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at))
  const places = new Set<number>()
  try {
    for (let at = int32(4); at !== 0 && !places.has(at) && places.size < maxTiffPages;) {
      const next = at + 2 + 12 * int16(at)
      places.add(at)
      at = int32(next)
    }
  } catch {
    // It ends before its directory does: what was found before is read.
  }
  return [...places]
}

/** Makes the page of a directory the first one, which is the only one that the recognizer reads. */
function beginWith(bytes: Buffer, index: number): void {
  if (isLittleEndian(bytes)) bytes.writeUInt32LE(index, 4)
  else bytes.writeUInt32BE(index, 4)
}

const isLittleEndian = (bytes: Buffer) => bytes.toString('latin1', 0, 2) === 'II'
