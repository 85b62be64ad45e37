import { checkForeignJson, foreignJsonDepth, parseForeignJson } from './foreign-json.ts'
import { isJsonObject, parseExactJson } from './json.ts'

/** More than the arguments of a tool may have. Larger texts are not parsed. */
const maxBytes = 4 * 1024 * 1024

/**
 * Parses a JSON text that is an object; undefined for anything else, and for what is too large to be parsed. Its numbers
 * keep their digits: see `parseExactJson`.
 */
export function readJsonObject(text: string): Record<string, unknown> | undefined {
  try {
    checkForeignJson(text, { bytes: maxBytes })
    const value = parseExactJson(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The text that a JSON text is. */
export function readJsonString(text: string): string | undefined {
  try {
    const value = parseForeignJson(text, { bytes: maxBytes })
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/** The object that can be parsed from the beginning of a JSON text; `{}` if there is none yet. */
export function readPartialObject(text: string): Record<string, unknown> {
  return readJsonObject(text) ?? readJsonObject(closeJson(text)) ?? {}
}

const literal = /true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const unfinishedEscape = /\\(?:u[\da-fA-F]{0,3})?$/

/**
 * Completes the beginning of a JSON text: cuts it after its last complete value and closes what is open. One pass
 * without recursion, because the text is untrusted. If the text is not JSON, the result is not JSON either.
 */
function closeJson(text: string): string {
  const closers: string[] = []
  let expects: 'key' | 'value' | 'separator' = 'value'
  /** A position where the text can be cut, with the containers that are open there. */
  let end = 0
  const closedAt = (prefix: string) => prefix + closers.toReversed().join('')

  for (let at = 0; at < text.length;) {
    const character = text.charAt(at)
    if (/\s/.test(character)) {
      at += 1
    } else if (character === '"') {
      const close = endOfString(text, at)
      if (close === undefined)
        return closedAt(expects === 'value' ? `${withoutUnfinishedEscape(text)}"` : text.slice(0, end))
      at = close + 1
      if (expects === 'value') {
        end = at
        expects = 'separator'
      }
    } else if (character === '{' || character === '[') {
      if (closers.length >= foreignJsonDepth) return ''
      closers.push(character === '{' ? '}' : ']')
      expects = character === '{' ? 'key' : 'value'
      end = at += 1
    } else if (character === '}' || character === ']') {
      closers.pop()
      expects = 'separator'
      end = at += 1
    } else if (character === ',') {
      expects = closers.at(-1) === '}' ? 'key' : 'value'
      at += 1
    } else if (character === ':') {
      expects = 'value'
      at += 1
    } else {
      literal.lastIndex = at
      const found = literal.exec(text)?.[0]
      if (found === undefined) break
      end = at += found.length
      expects = 'separator'
    }
  }
  return closedAt(text.slice(0, end))
}

/** The end of the string that begins at `start`; undefined if it has not arrived. */
function endOfString(text: string, start: number): number | undefined {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1))
    if (backslashesBefore(text, quote) % 2 === 0) return quote
  return undefined
}

function withoutUnfinishedEscape(text: string): string {
  const tail = unfinishedEscape.exec(text.slice(-6))?.[0] ?? ''
  const cut = text.length - tail.length
  // `\\` is itself an escape: the last backslash begins an escape only after an even number of backslashes.
  return backslashesBefore(text, cut) % 2 === 0 ? text.slice(0, cut) : text
}

function backslashesBefore(text: string, end: number): number {
  let count = 0
  while (text.charAt(end - 1 - count) === '\\') count += 1
  return count
}
