import { deflateSync } from 'node:zlib'
import { crc32 } from 'node:zlib'
import { PDFiumLibrary } from '@hyzyla/pdfium'

/** A grey picture: one byte for each point, line by line from the top. */
export interface Grey {
  width: number
  height: number
  data: Uint8Array
}

const dpi = 200

/** The page of a PDF as a scanner would see it. */
export async function scanOf(pdf: Uint8Array, index = 0): Promise<Grey> {
  const library = await PDFiumLibrary.init()
  const document = await library.loadDocument(pdf)
  const page = document.getPage(index)
  const { data, width, height } = await page.render({ scale: dpi / 72, render: 'bitmap', colorSpace: 'Gray' })
  document.destroy()
  library.destroy()
  return { width, height, data }
}

export function upsideDown({ width, height, data }: Grey): Grey {
  return { width, height, data: data.toReversed() }
}

/** Specks as in a photograph of gravel. The same for the same size. */
export function noise(width: number, height: number): Grey {
  let state = 1
  const data = Uint8Array.from({ length: width * height }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return (state >> 16) % 256
  })
  return { width, height, data }
}

export const blank = (width: number, height: number): Grey => ({
  width,
  height,
  data: new Uint8Array(width * height).fill(250),
})

/** PNG (RFC 2083). */
export function pngOf({ width, height, data }: Grey): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 0, 0, 0, 0], 8)
  const lines = Buffer.concat(
    Array.from({ length: height }, (_, line) =>
      Buffer.concat([Buffer.from([0]), data.subarray(line * width, (line + 1) * width)]),
    ),
  )
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    pngChunk('IHDR', head),
    pngChunk('IDAT', deflateSync(lines)),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

export function pngChunk(name: string, content: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), content])
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  size.writeUInt32BE(content.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([size, body, sum])
}

/** TIFF 6.0, uncompressed, with a directory for each page. */
export function tiffOf(pages: Grey[]): Buffer {
  const parts: Buffer[] = [Buffer.from([0x49, 0x49, 42, 0, 0, 0, 0, 0])]
  let at = 8
  let link = { part: 0, place: 4 }
  for (const { width, height, data } of pages) {
    const tags: [tag: number, value: number][] = [
      [256, width],
      [257, height],
      [258, 8],
      [259, 1],
      [262, 1],
      [273, at],
      [277, 1],
      [278, height],
      [279, data.length],
    ]
    const even = Buffer.alloc(data.length + (data.length % 2))
    even.set(data)
    const directory = Buffer.alloc(2 + 12 * tags.length + 4)
    directory.writeUInt16LE(tags.length, 0)
    for (const [index, [tag, value]] of tags.entries()) {
      directory.writeUInt16LE(tag, 2 + 12 * index)
      directory.writeUInt16LE(4, 4 + 12 * index)
      directory.writeUInt32LE(1, 6 + 12 * index)
      directory.writeUInt32LE(value, 10 + 12 * index)
    }
    at += even.length
    parts[link.part]?.writeUInt32LE(at, link.place)
    parts.push(even, directory)
    link = { part: parts.length - 1, place: directory.length - 4 }
    at += directory.length
  }
  return Buffer.concat(parts)
}

/** A PDF whose pages are each a picture at 200 dots per inch, or lines of text. */
export function pdfOf(pages: (Grey | string)[]): Buffer {
  const objects: Buffer[] = []
  const add = (dictionary: string, stream?: Uint8Array): number => {
    const body = stream
      ? [Buffer.from(`<< ${dictionary} /Length ${stream.length} >>\nstream\n`), stream, Buffer.from('\nendstream')]
      : [Buffer.from(`<< ${dictionary} >>`)]
    objects.push(Buffer.concat(body))
    return objects.length
  }
  const catalog = add('/Type /Catalog /Pages 2 0 R')
  add('')
  const font = add('/Type /Font /Subtype /Type1 /BaseFont /Helvetica')
  const kids = pages.map((page) => {
    const isText = typeof page === 'string'
    const lines = isText ? page.split('\n') : []
    const size = isText ? [595, 60 + 16 * lines.length] : [page.width, page.height].map((points) => (points * 72) / dpi)
    const [across = 0, up = 0] = size
    const picture = isText
      ? undefined
      : add(
          `/Type /XObject /Subtype /Image /Width ${page.width} /Height ${page.height} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode`,
          deflateSync(page.data),
        )
    const shown = lines.map((line) => `(${line}) Tj T*`).join(' ')
    const drawn = isText ? `BT /F 12 Tf 40 ${up - 40} Td 16 TL ${shown} ET` : `q ${across} 0 0 ${up} 0 0 cm /P Do Q`
    const content = add('', Buffer.from(drawn))
    const resources = picture ? `/XObject << /P ${picture} 0 R >>` : `/Font << /F ${font} 0 R >>`
    return add(
      `/Type /Page /Parent 2 0 R /MediaBox [0 0 ${across} ${up}] /Contents ${content} 0 R /Resources << ${resources} >>`,
    )
  })
  objects[1] = Buffer.from(
    `<< /Type /Pages /Count ${kids.length} /Kids [${kids.map((kid) => `${kid} 0 R`).join(' ')}] >>`,
  )
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')]
  const places: number[] = []
  let at = 9
  for (const [index, object] of objects.entries()) {
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')])
    places.push(at)
    parts.push(part)
    at += part.length
  }
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('')
  parts.push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root ${catalog} 0 R >>\nstartxref\n${at}\n%%EOF\n`,
    ),
  )
  return Buffer.concat(parts)
}

/**
 * Characters to insert, leave out or replace, divided by those of the true text (Levenshtein distance). Spaces count
 * once.
 */
export function characterErrorRate(truth: string, read: string): number {
  const [a, b] = [truth, read].map((text) => Array.from(text.replace(/\s+/g, ' ').trim()))
  if (!a || !b) return 1
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of a.entries()) {
    const next = [i + 1]
    for (const [j, other] of b.entries())
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)))
    row = next
  }
  return (row.at(-1) ?? 0) / a.length
}
