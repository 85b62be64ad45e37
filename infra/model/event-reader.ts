import { StringDecoder } from 'node:string_decoder'

/**
 * Reads server-sent events (HTML standard, section 9.2) of a server that is not trusted: in linear time, and
 * `tooLong` is thrown once an event has more than `maxLength` characters. Lines end with LF or CRLF.
 */
export function createEventReader(maxLength: number, tooLong: () => Error) {
  const decoder = new StringDecoder('utf8')
  let line = ''
  let data: string[] = []
  let length = 0

  function takeLine(text: string): string | undefined {
    if (text === '') return takeEvent()
    if (text.startsWith('data:')) data.push(text.slice(text[5] === ' ' ? 6 : 5))
    return undefined
  }

  function takeEvent(): string | undefined {
    const event = data.length > 0 ? data.join('\n') : undefined
    data = []
    length = 0
    return event
  }

  return {
    /** The data of the events that end in this chunk. */
    *read(chunk: Uint8Array): Generator<string> {
      const text = decoder.write(chunk)
      let start = 0
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
        length += end + 1 - start
        if (length > maxLength) throw tooLong()
        const whole = line + text.slice(start, end)
        line = ''
        start = end + 1
        // The CR of a CRLF may have come with an earlier chunk.
        const event = takeLine(whole.endsWith('\r') ? whole.slice(0, -1) : whole)
        if (event !== undefined) yield event
      }
      line += text.slice(start)
      length += text.length - start
      if (length > maxLength) throw tooLong()
    },
    /** The data of an event that the end of the stream cut short of its empty line. */
    end(): string | undefined {
      takeLine(line)
      return takeEvent()
    },
  }
}
