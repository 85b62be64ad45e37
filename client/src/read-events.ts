import { type EventSourceMessage, createParser } from 'eventsource-parser'

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
  let arrived: EventSourceMessage[] = []
  let isTooLong = false
  const parser = createParser({
    onEvent: (event) => arrived.push(event),
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') isTooLong = true
    },
    maxBufferSize: maxCharacters,
  })
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let lastText = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (!done) onBytes()
      // The parser keeps a last carriage return until it knows whether a line feed follows: at the end none does.
      const text = done ? (lastText.endsWith('\r') ? '\n' : '') : decoder.decode(value, { stream: true })
      parser.feed(text)
      lastText = text || lastText
      const events = arrived
      arrived = []
      for (const { event = 'message', id, data } of events) yield { event, id, data }
      if (isTooLong) throw new Error('an event of the stream is too long')
      if (done) return
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
