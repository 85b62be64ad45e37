import { countTokens as countByLibrary } from 'gpt-tokenizer/encoding/cl100k_base'
import { CL100K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants'

/** Tokenizers take quadratic time on text without spaces, so they get at most this many characters at once. */
export const tokenWindowCharacters = 512

/** Text that looks like a control token, such as `<|endoftext|>`, is counted as ordinary text. */
const options = { disallowedSpecial: new Set<string>() }

/**
 * Tokens of a text in cl100k_base, the encoding of the text-embedding-3 models, counted in windows:
 * exact up to 512 characters, at most one too many for each further window.
 */
export function countTokens(text: string): number {
  if (text.length <= tokenWindowCharacters) return countWindow(text)
  let tokens = 0
  for (const window of windows(text, tokenWindowCharacters)) tokens += countWindow(window)
  return tokens
}

/** The encoding divides a text into words before it looks for tokens in each. A copy, because searching changes it. */
const words = new RegExp(CL100K_TOKEN_SPLIT_REGEX)
/** Short words are copied by V8; a longer one would keep the whole text that it was cut from. */
const rememberedCharacters = 12
const rememberedWords = 20_000
const known = new Map<string, number>()

/** The sum over the words: exact, and two to three times as fast as the library, because the words of a text recur. */
function countWindow(text: string): number {
  let tokens = 0
  let start = 0
  words.lastIndex = 0
  // The pattern matches every character, so that a word begins where the last one ends.
  while (words.test(text)) {
    const word = text.slice(start, words.lastIndex)
    start = words.lastIndex
    tokens += word.length > rememberedCharacters ? countByLibrary(word, options) : countWord(word)
  }
  return tokens
}

function countWord(word: string): number {
  const found = known.get(word)
  if (found !== undefined) return found
  const tokens = countByLibrary(word, options)
  if (known.size >= rememberedWords) known.clear()
  known.set(word, tokens)
  return tokens
}

/** Window for counting in small steps: even the worst text takes only milliseconds for one. */
const shortWindowCharacters = 128

/** The token counts of a text, window by window, for callers that stop at a limit or let others run in between. */
export function* tokensOfWindows(text: string): Generator<number> {
  for (const window of windows(text, shortWindowCharacters)) yield countWindow(window)
}

/** Cuts a text into pieces of at most `size` characters, after white space if possible. */
export function* windows(text: string, size: number): Generator<string> {
  let start = 0
  while (text.length - start > size) {
    const end = cutBefore(text, start, start + size)
    yield text.slice(start, end)
    start = end
  }
  if (start < text.length) yield text.slice(start)
}

function cutBefore(text: string, start: number, end: number): number {
  const earliest = start + ((end - start) >> 1)
  for (let at = end; at > earliest; at--) {
    if (isSpace(text.charCodeAt(at - 1))) return at
  }
  const isHighSurrogate = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800
  return isHighSurrogate ? end - 1 : end
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0 || code === 0x3000
}
