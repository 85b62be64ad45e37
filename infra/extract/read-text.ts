import { detectCharset } from './charset.ts'
import { type Content, streamOf } from './content.ts'
import { createDecoder } from './language-letters.ts'

/** A text file as decoded pieces, without a byte order mark; invalid bytes become U+FFFD. */
export async function* readText(content: Content, charset?: string): AsyncGenerator<string> {
  const decoder = createDecoder(charset ?? (await detectCharset(content)))
  for await (const bytes of streamOf(content)) {
    const text = decoder.decode(bytes, { stream: true })
    if (text !== '') yield text.includes('\0') ? text.replaceAll('\0', '') : text
  }
  const rest = decoder.decode()
  if (rest !== '') yield rest
}

/** Lines without their ends. A very long line is given in pieces of a megabyte. */
export async function* readLines(content: Content): AsyncGenerator<string> {
  let open = ''
  for await (const piece of readText(content)) {
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
