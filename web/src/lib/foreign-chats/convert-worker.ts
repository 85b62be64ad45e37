import { archiveOf, type Names } from './archive.ts'
import { type ForeignSource, type LeftOut, limits, nothingLeftOut } from './chat.ts'
import { picturesIn, readPictures } from './pictures.ts'
import { readExport } from './read.ts'
import { type Entry, entriesOf, isZip, textsIn } from './zip.ts'

export interface ConvertRequest {
  file: File
  names: Record<ForeignSource, Names>
}

export type ConvertAnswer =
  | { archive: Blob; source: ForeignSource; chats: number; left: LeftOut }
  /** It is no JSON, an archive without chats, of no service that is known, or too large. */
  | { problem: 'json' | 'zip' | 'unknown' | 'empty' | 'tooLarge' }

/** In a worker, because an export can be large. */
self.addEventListener('message', (event: MessageEvent<ConvertRequest>) => {
  void convert(event.data).then(
    (answer) => self.postMessage(answer),
    // What the page must not wait for, such as a file that takes more memory than there is.
    () => self.postMessage({ problem: 'unknown' } satisfies ConvertAnswer),
  )
})

async function convert({ file, names }: ConvertRequest): Promise<ConvertAnswer> {
  const given = await valueOf(file)
  if ('problem' in given) return given
  const left = nothingLeftOut()
  const read = readExport(given.value, left, (id) => given.pictures.has(id))
  if (read === undefined) return { problem: 'unknown' }
  const { source, chats } = read
  if (chats.length === 0) return { problem: 'empty' }
  const pictures = await readPictures(file, given.pictures, chats, left)
  const pieces = archiveOf(chats, source, names[source], left, pictures)
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const next = pieces.next()
      if (next.done === true) controller.close()
      else controller.enqueue(next.value instanceof Blob ? new Uint8Array(await next.value.arrayBuffer()) : next.value)
    },
  })
  const archive = await new Response(stream.pipeThrough(new CompressionStream('gzip'))).blob()
  return { archive, source, chats: chats.length, left }
}

/** ChatGPT writes many chats into several files: `conversations-000.json` and so on. */
const chatFiles = /(?:^|\/)conversations(?:-\d+)?\.json$/

interface Given {
  value: unknown
  /** Of the archive, by their ids. */
  pictures: ReadonlyMap<string, Entry>
}

/** What the file holds: the chats themselves, or the archive in which ChatGPT and Claude send them. */
async function valueOf(file: File): Promise<Given | Extract<ConvertAnswer, { problem: unknown }>> {
  const isArchive = await isZip(file)
  if (!isArchive && file.size > limits.fileBytes) return { problem: 'tooLarge' }
  let entries: Entry[] = []
  let texts: string[]
  try {
    if (isArchive) entries = await entriesOf(file)
    const ofChats = entries.filter(({ name }) => chatFiles.test(name))
    texts = isArchive ? await textsIn(file, ofChats, limits.fileBytes) : [await file.text()]
  } catch (error) {
    return { problem: error instanceof RangeError ? 'tooLarge' : 'zip' }
  }
  if (texts.length === 0) return { problem: 'zip' }
  try {
    const values = texts.map((text): unknown => JSON.parse(text))
    const value = values.length === 1 ? values[0] : values.flat()
    return { value, pictures: picturesIn(entries) }
  } catch {
    return { problem: 'json' }
  }
}
