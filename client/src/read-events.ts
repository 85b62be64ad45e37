/** One server-sent event (HTML standard, section 9.2). */
export interface ServerEvent {
  event: string
  id: string | undefined
  data: string
}

/**
 * An event with its data parsed, typed as the component that `x-itemSchema` names for the stream:
 * `parseEvent<Schemas['RunStreamEvent']>(event)`. The type is what the service describes; it is not checked.
 */
export function parseEvent<E extends { event: string; data: unknown }>({ event, data }: ServerEvent): E {
  const isText = data === '' || data === '[DONE]'
  return { event, data: isText ? data : (JSON.parse(data) as unknown) } as E
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
  { maxCharacters = maxEventCharacters }: { maxCharacters?: number } = {},
): AsyncGenerator<ServerEvent> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  /** The line under way, and the lines of the event under way with their length. */
  let open = ''
  let lines: string[] = []
  let length = 0
  let endsWithReturn = false
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      onBytes()
      let text = decoder.decode(value, { stream: true })
      if (text === '') continue
      // The second half of a line end whose first half came with the piece before.
      if (endsWithReturn && text.startsWith('\n')) text = text.slice(1)
      endsWithReturn = text.endsWith('\r') || (endsWithReturn && text === '')
      // Only the new text is searched, so that a long line costs no more than its length.
      const parts = text.split(/\r\n|\r|\n/)
      parts[0] = open + (parts[0] ?? '')
      open = parts.pop() ?? ''
      for (const line of parts) {
        length += line.length
        if (length > maxCharacters) throw new Error('an event of the stream is too long')
        if (line !== '') {
          // Comments are no part of an event.
          if (line.startsWith(':')) length -= line.length
          else lines.push(line)
          continue
        }
        const event = eventOf(lines)
        lines = []
        length = 0
        if (event) yield event
      }
      if (length + open.length > maxCharacters) throw new Error('an event of the stream is too long')
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
