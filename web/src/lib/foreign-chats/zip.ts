/** The little of a zip archive (APPNOTE 6.3) that finding one file in an export takes. */
export interface Entry {
  name: string
  /** 0: stored, 8: deflated. */
  method: number
  packed: number
  offset: number
}

const marks = { file: 0x04034b50, entry: 0x02014b50, end: 0x06054b50 } as const
/** The end of an archive with the longest comment. */
const endBytes = 22 + 0xffff
/** Of the list of its files. */
const listBytes = 64 * 1024 * 1024

export async function isZip(file: Blob): Promise<boolean> {
  return file.size > 22 && (await viewOf(file.slice(0, 4))).getUint32(0, true) === marks.file
}

/**
 * The texts of these files, in the order of their names. Only these are read, however large the archive is. Throws a
 * RangeError if they hold more than `maxBytes`, whatever the archive says of them.
 */
export async function textsIn(archive: Blob, entries: Entry[], maxBytes: number): Promise<string[]> {
  const texts: string[] = []
  let left = maxBytes
  for (const entry of entries.toSorted((a, b) => a.name.localeCompare(b.name, 'en'))) {
    const bytes = await bytesOf(archive, entry, left)
    left -= bytes.size
    texts.push(await bytes.text())
  }
  return texts
}

/** The list of the files of an archive. */
export async function entriesOf(archive: Blob): Promise<Entry[]> {
  const tail = await viewOf(archive.slice(Math.max(0, archive.size - endBytes)))
  let end = tail.byteLength - 22
  while (end >= 0 && tail.getUint32(end, true) !== marks.end) end -= 1
  if (end < 0) throw new Error('the archive has no end')
  const [size, start] = [tail.getUint32(end + 12, true), tail.getUint32(end + 16, true)]
  if (size > listBytes) throw new Error('the list of the files is too long')
  const list = await viewOf(archive.slice(start, start + size))
  const decoder = new TextDecoder()
  const entries: Entry[] = []
  for (let at = 0; at + 46 <= list.byteLength && list.getUint32(at, true) === marks.entry;) {
    const nameLength = list.getUint16(at + 28, true)
    entries.push({
      name: decoder.decode(new Uint8Array(list.buffer, at + 46, Math.min(nameLength, list.byteLength - at - 46))),
      method: list.getUint16(at + 10, true),
      packed: list.getUint32(at + 20, true),
      offset: list.getUint32(at + 42, true),
    })
    at += 46 + nameLength + list.getUint16(at + 30, true) + list.getUint16(at + 32, true)
  }
  return entries
}

/** The content of a file. Throws a RangeError if it is longer than `maxBytes`, whatever the archive says of it. */
export async function bytesOf(archive: Blob, { method, packed, offset }: Entry, maxBytes: number): Promise<Blob> {
  const head = await viewOf(archive.slice(offset, offset + 30))
  if (head.byteLength < 30 || head.getUint32(0, true) !== marks.file)
    throw new Error('a file is not where it should be')
  const start = offset + 30 + head.getUint16(26, true) + head.getUint16(28, true)
  const data = archive.slice(start, start + packed)
  if (method !== 0 && method !== 8) throw new Error('a file is packed in a way that is not known')
  let left = maxBytes
  const counted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(piece, controller) {
      left -= piece.byteLength
      if (left < 0) throw new RangeError('a file is too large')
      controller.enqueue(piece)
    },
  })
  const stream = method === 0 ? data.stream() : data.stream().pipeThrough(new DecompressionStream('deflate-raw'))
  return new Response(stream.pipeThrough(counted)).blob()
}

const viewOf = async (part: Blob): Promise<DataView<ArrayBuffer>> => new DataView(await part.arrayBuffer())
