import { archiveOf, type Names } from './archive.ts'
import { type ForeignSource, type LeftOut, nothingLeftOut } from './chat.ts'
import { readExport } from './read.ts'

export interface ConvertRequest {
  file: File
  names: Record<ForeignSource, Names>
}

export type ConvertAnswer =
  | { archive: Blob; source: ForeignSource; chats: number; left: LeftOut }
  /** It is no JSON, or of no service that is known. */
  | { problem: 'json' | 'unknown' | 'empty' }

/** In a worker, because an export can be large. */
self.addEventListener('message', (event: MessageEvent<ConvertRequest>) => {
  void convert(event.data).then(
    (answer) => self.postMessage(answer),
    // What the page must not wait for, such as a file that takes more memory than there is.
    () => self.postMessage({ problem: 'unknown' } satisfies ConvertAnswer),
  )
})

async function convert({ file, names }: ConvertRequest): Promise<ConvertAnswer> {
  let value: unknown
  try {
    value = JSON.parse(await file.text())
  } catch {
    return { problem: 'json' }
  }
  const left = nothingLeftOut()
  const read = readExport(value, left)
  if (read === undefined) return { problem: 'unknown' }
  const { source, chats } = read
  if (chats.length === 0) return { problem: 'empty' }
  const pieces = archiveOf(chats, source, names[source], left)
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const next = pieces.next()
      if (next.done === true) controller.close()
      else controller.enqueue(next.value)
    },
  })
  const archive = await new Response(stream.pipeThrough(new CompressionStream('gzip'))).blob()
  return { archive, source, chats: chats.length, left }
}
