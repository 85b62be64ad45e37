import { TextDecoder } from 'node:util'
import { type Content } from '../content.ts'
import { readLines } from '../read-text.ts'

/** A line of iCalendar (RFC 5545, 3.1) or vCard (RFC 6350, 3.3; versions 2.1 to 4). */
export interface ContentLine {
  /** In capitals, without the group before it. */
  name: string
  group: string
  /** By name, in capitals. What vCard 2.1 writes without a name is a type. */
  parameters: Map<string, string>
  value: string
}

/** Longer values, such as pictures, are cut. */
const longestLine = 64 * 1024

/** The lines, joined where they were folded. What is no line of the format is left out. */
export async function* readContentLines(content: Content): AsyncGenerator<ContentLine> {
  let open = ''
  let isPrintable = false
  let isSoft = false
  for await (const line of readLines(content)) {
    if (isSoft || /^[ \t]/.test(line)) {
      if (open.length < longestLine) open += isSoft ? `\n${line}` : line.slice(1)
    } else {
      const parsed = parseLine(open)
      if (parsed) yield parsed
      open = line.slice(0, longestLine)
      isPrintable = isQuotedPrintable.test(line.slice(0, longestHead))
    }
    isSoft = isPrintable && line.endsWith('=')
  }
  const parsed = parseLine(open)
  if (parsed) yield parsed
}

const longestHead = 1000
const isQuotedPrintable = /^[^:]*;(?:ENCODING=)?QUOTED-PRINTABLE\b[^:]*:/i

function parseLine(line: string): ContentLine | undefined {
  const parts: string[] = []
  let from = 0
  let isQuoted = false
  let at = 0
  for (; at < line.length; at++) {
    const letter = line[at]
    if (letter === '"') isQuoted = !isQuoted
    else if (!isQuoted && letter === ':') break
    else if (!isQuoted && letter === ';') {
      parts.push(line.slice(from, at))
      from = at + 1
    }
  }
  if (at === line.length) return undefined
  parts.push(line.slice(from, at))
  const [first = '', ...given] = parts
  const dot = first.lastIndexOf('.')
  const name = first
    .slice(dot + 1)
    .trim()
    .toUpperCase()
  if (!/^[A-Z][\w-]*$/.test(name)) return undefined
  const parameters = parametersOf(given)
  return { name, group: first.slice(0, Math.max(0, dot)), parameters, value: decoded(line.slice(at + 1), parameters) }
}

function parametersOf(given: string[]): Map<string, string> {
  const parameters = new Map<string, string>()
  for (const part of given) {
    const equals = part.indexOf('=')
    const key = equals < 0 ? bareName(part) : part.slice(0, equals).trim().toUpperCase()
    const value = unquoted(part.slice(equals + 1))
    const known = parameters.get(key)
    parameters.set(key, known === undefined ? value : `${known},${value}`)
  }
  return parameters
}

const bareName = (part: string): string => (/^(?:QUOTED-PRINTABLE|BASE64|8BIT)$/i.test(part) ? 'ENCODING' : 'TYPE')

/** Without quotation marks, and with those that `^'` stands for (RFC 6868). */
function unquoted(text: string): string {
  const marks: Record<string, string> = { '^': '^', n: '\n', "'": '"' }
  return text.replaceAll('"', '').replace(/\^([\^n'])/g, (_, letter: string) => marks[letter] ?? '')
}

function decoded(value: string, parameters: Map<string, string>): string {
  if (!/^quoted-printable$/i.test(parameters.get('ENCODING') ?? '')) return value
  // Letters beyond ASCII that stand there as they are are those of the file.
  const parts = value.replace(/=[ \t]*\n/g, '').split(/((?:=[\dA-F]{2})+)/i)
  const decoder = decoderOf(parameters.get('CHARSET'))
  return parts
    .map((part, index) => (index % 2 === 0 ? part : decoder.decode(Buffer.from(part.replaceAll('=', ''), 'hex'))))
    .join('')
    .replaceAll('\r\n', '\n')
}

function decoderOf(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder(charset ?? 'utf-8')
  } catch {
    return new TextDecoder()
  }
}

/** A value of type TEXT. */
export const textOf = (value: string): string =>
  value.replace(/\\([\s\S])/g, (_, letter: string) => (letter === 'n' || letter === 'N' ? '\n' : letter)).trim()

/** The parts between separators that are not escaped: of a name, an address, a list. */
export const partsOf = (value: string, separator: ';' | ','): string[] =>
  (value.match(separator === ';' ? /(?:\\[\s\S]|[^\\;])+/g : /(?:\\[\s\S]|[^\\,])+/g) ?? [])
    .map(textOf)
    .filter((part) => part !== '')

/** `Name: value; Name: value`, as the rows of a table. */
export const rowOf = (facts: [name: string, value: string][]): string =>
  facts
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}`)
    .join('; ')
