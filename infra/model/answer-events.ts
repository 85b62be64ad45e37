import { JsonLimitError } from '../../domain/foreign-json.ts'
import { invalid } from './foreign-values.ts'

const encoder = new TextEncoder()

/**
 * The bytes of an answer as a stream of events that ends with a whole event. A server that does not stream answers
 * with one JSON text, or with one a line, which become events, whatever the content type says.
 */
export async function* asEvents(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let beginning: string | undefined = ''
  let whole: Uint8Array[] | undefined
  let bytes = 0
  for await (const chunk of chunks) {
    if (beginning !== undefined) {
      beginning += new TextDecoder().decode(chunk.subarray(0, 64))
      const [first] = beginning.trim()
      if (first === '<') throw invalid('it is a page')
      if (first === '{' || first === '[') whole = []
      if (first !== undefined) beginning = undefined
    }
    if (whole === undefined) {
      yield chunk
      continue
    }
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new JsonLimitError('bytes', maxBytes)
    whole.push(chunk)
  }
  if (whole === undefined) {
    // Some servers leave out the empty line after the last event.
    yield encoder.encode('\n\n')
    return
  }
  const lines = new TextDecoder()
    .decode(Buffer.concat(whole))
    .split(/[\r\n]+/)
    .filter((line) => line.trim() !== '')
  // Line ends in JSON are only between its values.
  const texts = lines.every(isObject) ? lines : [lines.join(' ')]
  yield encoder.encode(`${texts.map((text) => `data: ${text}\n\n`).join('')}data: [DONE]\n\n`)
}

const isObject = (line: string) => /^\s*\{.*\}\s*$/.test(line)

/**
 * The data of one event as that of the events that were meant. Nothing of an empty one; several where a server ends them
 * with one line end; `null` for the numbers that JSON has not.
 */
export function eventsIn(data: string): string[] {
  if (data.startsWith('{') && !data.includes('\n') && !data.includes('NaN') && !data.includes('Infinity')) return [data]
  const lines = data.includes('\n') ? data.split('\n').filter((line) => line.trim() !== '') : [data]
  const texts = lines.length > 1 && lines.every((line) => isObject(line) || isEnd(line)) ? lines : [data]
  return texts.flatMap((text) => {
    if (isEnd(text)) return ['[DONE]']
    if (text.trim() === '') return []
    return /\b(?:NaN|Infinity)\b/.test(text) ? [withoutOddNumbers(text)] : [text]
  })
}

export const isEnd = (data: string): boolean => data.length < 50 && data.trim() === '[DONE]'

/** A text without an end goes on to the end of all: were it no match, each quote in it would be looked at as its beginning. */
const textOrOddNumber = /"(?:[^"\\]|\\.?)*"?|-?\bInfinity\b|\bNaN\b/gs

function withoutOddNumbers(text: string): string {
  return text.replaceAll(textOrOddNumber, (found) => (found.startsWith('"') ? found : 'null'))
}
