import { foreignJsonDepth } from './foreign-json.ts'

interface Container {
  kind: '{' | '['
  /** Keys of an object so far. */
  keys: Set<string>
}

type Expected = 'value' | 'key' | 'colon' | 'separator' | 'nothing'

/** Whole characters of a string, some at a time: plain ones, pairs of halves, and their escapes. */
const characters =
  /(?:[^"\\\uD800-\uDFFF]|[\uD800-\uDBFF][\uDC00-\uDFFF]|\\[^u]|\\u(?![dD][89a-fA-F])[\da-fA-F]{4}|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}){1,2000}/y

/** `JSON.stringify` writes keys that are numbers first, and a repeated key once. */
const isMovedKey = (key: string, { keys }: Container) => /^\d+$/.test(key) || key === '__proto__' || keys.has(key)

interface Reading {
  source: string
  /** How much of the source has been read. */
  at: number
  written: string
  open: Container[]
  expected: Expected
  isInString: boolean
  /** A comma was read, and what follows was not. */
  hasComma: boolean
  isStuck: boolean
}

/**
 * Reads the arguments of a call as a model writes them, and gives the beginning of the text that `JSON.stringify` makes of
 * the whole object, as far as it is certain. So the same call has the same text while it arrives and when it is read
 * from the database. A text that is not an object, or whose members `JSON.stringify` moves, goes on only when it is whole.
 */
export function createCanonicalArguments() {
  let state = begin('')
  return {
    /** `text`: all that the model has written so far. Another beginning than before begins anew. */
    read(text: string): { text: string; isWhole: boolean } {
      if (!text.startsWith(state.source)) state = begin(text)
      state.source = text
      while (!state.isStuck && readToken(state));
      return { text: state.written, isWhole: !state.isStuck && state.expected === 'nothing' }
    },
  }
}

function begin(source: string): Reading {
  return {
    source,
    at: 0,
    written: '',
    open: [],
    expected: 'value',
    isInString: false,
    hasComma: false,
    isStuck: false,
  }
}

function write(state: Reading, text: string): void {
  state.written += state.hasComma ? `,${text}` : text
  state.hasComma = false
}

function closed(state: Reading): void {
  state.expected = state.open.length === 0 ? 'nothing' : 'separator'
}

/** False if the next token is not there as a whole, or cannot be read. */
function readToken(state: Reading): boolean {
  if (state.isInString) return readString(state)
  while (/\s/.test(state.source.charAt(state.at))) state.at += 1
  const character = state.source.charAt(state.at)
  const container = state.open.at(-1)
  if (character === '') return false
  if (state.expected === 'nothing') return stop(state)
  if (state.open.length === 0 && character !== '{') return stop(state)
  if (character === '}' || character === ']') {
    const isEmpty = state.written.endsWith(container?.kind ?? '') && !state.hasComma
    if (container === undefined || (state.expected !== 'separator' && !isEmpty)) return stop(state)
    if ((character === '}') !== (container.kind === '{')) return stop(state)
    state.open.pop()
    write(state, character)
    state.at += 1
    closed(state)
    return true
  }
  if (state.expected === 'separator' || state.expected === 'colon') {
    if (character !== (state.expected === 'colon' ? ':' : ',')) return stop(state)
    if (state.expected === 'colon') write(state, ':')
    else state.hasComma = true
    state.expected = state.expected === 'separator' && container?.kind === '{' ? 'key' : 'value'
    state.at += 1
    return true
  }
  if (state.expected === 'key') return container !== undefined && readKey(state, container)
  return readValue(state, character)
}

function readKey(state: Reading, container: Container): boolean {
  const token = /"(?:[^"\\]|\\.){0,1000}"/sy
  token.lastIndex = state.at
  const found = token.exec(state.source)?.[0]
  if (found === undefined) return state.source.charAt(state.at) === '"' ? false : stop(state)
  const key = parsed(found)
  if (typeof key !== 'string' || isMovedKey(key, container)) return stop(state)
  container.keys.add(key)
  write(state, JSON.stringify(key))
  state.at += found.length
  state.expected = 'colon'
  return true
}

function readValue(state: Reading, character: string): boolean {
  if (character === '{' || character === '[') {
    if (state.open.length >= foreignJsonDepth) return stop(state)
    state.open.push({ kind: character, keys: new Set() })
    write(state, character)
    state.at += 1
    state.expected = character === '{' ? 'key' : 'value'
    return true
  }
  if (character === '"') {
    write(state, '"')
    state.at += 1
    state.isInString = true
    return true
  }
  const token = /[-+.\w]{0,400}/y
  token.lastIndex = state.at
  const found = token.exec(state.source)?.[0] ?? ''
  // More of a number or a word may follow.
  if (state.at + found.length === state.source.length) return false
  const value = parsed(found)
  if (value === undefined) return stop(state)
  // Numbers keep their digits.
  write(state, found)
  state.at += found.length
  closed(state)
  return true
}

/** As much of a string as is there, without a half of a character or of an escape. */
function readString(state: Reading): boolean {
  characters.lastIndex = state.at
  const found = characters.exec(state.source)?.[0] ?? ''
  const text = parsed(`"${found}"`)
  if (typeof text !== 'string') return stop(state)
  state.written += JSON.stringify(text).slice(1, -1)
  state.at += found.length
  if (state.source.charAt(state.at) !== '"') return found !== ''
  state.written += '"'
  state.at += 1
  state.isInString = false
  closed(state)
  return true
}

function stop(state: Reading): false {
  state.isStuck = true
  return false
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
