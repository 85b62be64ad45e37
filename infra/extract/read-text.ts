import { createReadStream } from 'node:fs'
import { detectCharset } from './charset.ts'
import { createDecoder } from './language-letters.ts'

/** A text file as decoded pieces, without a byte order mark; invalid bytes become U+FFFD. */
export async function* readText(path: string, charset?: string): AsyncGenerator<string> {
  const decoder = createDecoder(charset ?? (await detectCharset(path)))
  const source: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 256 * 1024 })
  for await (const bytes of source) {
    const text = decoder.decode(bytes, { stream: true })
    if (text !== '') yield text.includes('\0') ? text.replaceAll('\0', '') : text
  }
  const rest = decoder.decode()
  if (rest !== '') yield rest
}

/** Lines without their ends. A very long line is given in pieces of a megabyte. */
export async function* readLines(path: string, charset?: string): AsyncGenerator<string> {
  let open = ''
  for await (const piece of readText(path, charset)) {
    const lines = (open + piece).split(/\r\n|\n|\r(?!$)/)
    open = lines.pop() ?? ''
    yield* lines
    if (open.length > 1024 * 1024) {
      yield open
      open = ''
    }
  }
  if (open !== '') yield open.replace(/\r$/, '')
}
