import type { Readable } from 'node:stream'

/**
 * The lines of a stream of UTF-8 text, split only at `\n` and without their ends (`\n` or `\r\n`). Node's
 * `readline` also splits at U+2028 and U+2029, which JSON text may contain. Throws if a line is longer than
 * `maxCharacters`.
 */
export async function* linesOf(
  source: AsyncIterable<Buffer | string>,
  { maxCharacters = Infinity }: { maxCharacters?: number } = {},
): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder()
  let open = ''
  for await (const piece of source) {
    const text = typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true })
    let start = 0
    // Only the new text is searched, so that the cost of a long line is proportional to its length.
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      yield withoutReturn(open + text.slice(start, end))
      open = ''
      start = end + 1
    }
    open += text.slice(start)
    if (open.length > maxCharacters) throw new Error(`A line is longer than ${maxCharacters} characters.`)
  }
  open += decoder.decode()
  if (open !== '') yield withoutReturn(open)
}

/** Calls `take` with each line until the stream ends or fails. */
export async function forEachLine(source: Readable, take: (line: string) => void): Promise<void> {
  const lines = linesOf(source)
  const ended = { done: true, value: undefined } as const
  for (;;) {
    const next = await lines.next().catch(() => ended)
    if (next.done) return
    take(next.value)
  }
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
