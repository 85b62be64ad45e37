/** One server-sent event as a client reads it. */
export interface ServerEvent {
  event: string
  id: string | undefined
  data: string
}

/** Reads the events of a response one by one. Comments are passed over. */
export async function* readEvents(response: Response): AsyncGenerator<ServerEvent> {
  if (response.body === null) throw new Error('the response has no body')
  let rest = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    rest += chunk
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      const event = parseEvent(rest.slice(0, end))
      rest = rest.slice(end + 2)
      if (event) yield event
    }
  }
}

/** All events until the stream ends. */
export async function allEvents(response: Response): Promise<ServerEvent[]> {
  const events: ServerEvent[] = []
  for await (const event of readEvents(response)) events.push(event)
  return events
}

function parseEvent(block: string): ServerEvent | undefined {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''))
  }
  if (fields.size === 0) return undefined
  return { event: fields.get('event') ?? 'message', id: fields.get('id'), data: fields.get('data') ?? '' }
}
