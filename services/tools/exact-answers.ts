import { parseExactJson } from '../../domain/json.ts'

/** Stands before the digits of a number in the string that replaces it: a character for private use. */
const mark = '\uE000'
/** Lines of a stream beside its data are not JSON: an event's id is sent back as it is. */
const besideJson = String.raw`^(?:id|event|retry):.*$`
/** Up to its line end, if it has no other end: were that no match, each quote in it would be looked at as a beginning. */
const string = String.raw`"(?:[^"\\\n]|\\.?)*"?`
const stringOrNumber = new RegExp(String.raw`${besideJson}|${string}|-?\d[\d.eE+-]*`, 'gm')
const marked = new RegExp(`"${mark}(-?\\d[\\d.eE+-]*)"`, 'g')

/**
 * A library parses the answers of MCP servers, and a number above 2^53 would lose its digits there. So such numbers
 * become strings before the library sees them; `withExactNumbers` turns them back. Works line by line, because a
 * string of JSON holds no line break, both on JSON and on the events of a stream.
 */
export function keepingDigits(response: Response): Response {
  if (response.body === null) return response
  const { status, statusText, headers } = response
  const lines = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(markedLines())
  return new Response(lines.pipeThrough(new TextEncoderStream()), { status, statusText, headers })
}

/** What JSON.stringify writes of the value has each number as the server wrote it. */
export function withExactNumbers<T extends object>(value: T): T
export function withExactNumbers(value: object): unknown {
  const text = JSON.stringify(value)
  return text.includes(mark) ? parseExactJson(text.replaceAll(marked, '$1')) : value
}

function markedLines(): TransformStream<string, string> {
  let rest = ''
  return new TransformStream({
    transform(text, controller) {
      const end = text.lastIndexOf('\n') + 1
      if (end === 0) {
        rest += text
        return
      }
      controller.enqueue(markNumbers(rest + text.slice(0, end)))
      rest = text.slice(end)
    },
    flush: (controller) => controller.enqueue(markNumbers(rest)),
  })
}

function markNumbers(text: string): string {
  if (!/\d{15}/.test(text)) return text
  return text.replaceAll(stringOrNumber, (part) => (!/^[-\d]/.test(part) || isExact(part) ? part : `"${mark}${part}"`))
}

/** Whether a double has the same value; of a decimal fraction, the same digits. */
function isExact(number: string): boolean {
  if (/^-?\d+$/.test(number)) return Number.isSafeInteger(Number(number))
  const digits = number.replace(/[eE].*$/, '').replaceAll(/\D/g, '')
  return digits.replace(/^0+/, '').replace(/0+$/, '').length <= 15
}
