/** One server-sent event (HTML standard, section 9.2). */
export interface ServerEvent {
  event: string
  id: string | undefined
  data: string
}

/** An event contains at most a whole thread; anything larger is not a stream of this service. */
const maxEventCharacters = 128 * 1024 * 1024

/**
 * The events of a stream as they arrive. `onBytes` is called for every piece, including comments, which show that
 * the connection is alive.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void = () => {},
): AsyncGenerator<ServerEvent> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let lines: string[] = []
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      onBytes()
      const text = rest + decoder.decode(value, { stream: true })
      // A carriage return at the end may be the first half of a line end.
      const complete = text.endsWith('\r') ? text.slice(0, -1) : text
      const parts = complete.split(/\r\n|\r|\n/)
      rest = (parts.pop() ?? '') + text.slice(complete.length)
      if (rest.length > maxEventCharacters) throw new Error('an event of the stream is too long')
      for (const line of parts) {
        if (line !== '') {
          lines.push(line)
          continue
        }
        const event = eventOf(lines)
        lines = []
        if (event) yield event
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function eventOf(lines: string[]): ServerEvent | undefined {
  let event = 'message'
  let id: string | undefined
  const data: string[] = []
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'event') event = value
    else if (name === 'id') id = value
    else if (name === 'data') data.push(value)
  }
  return data.length === 0 ? undefined : { event, id, data: data.join('\n') }
}
