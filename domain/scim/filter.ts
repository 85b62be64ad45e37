import { ScimError } from './scim-error.ts'

export type Comparison = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'pr'

/** A filter (RFC 7644, section 3.4.2.2), without what nobody asks of users and groups. */
export type ScimFilter =
  | { kind: 'compare'; path: string; operator: Comparison; value: string | boolean | undefined }
  | { kind: 'and' | 'or'; parts: ScimFilter[] }
  | { kind: 'not'; part: ScimFilter }

const limits = { length: 2000, comparisons: 50, depth: 10 } as const
const comparisons = ['eq', 'ne', 'co', 'sw', 'ew', 'pr'] as const
const token = /\s*(?:([()])|("(?:[^"\\]|\\.)*")|([^\s()"]+))/y

/** Throws `invalidFilter` for a filter that is wrong, too long, or has too many parts. */
export function parseScimFilter(text: string): ScimFilter {
  if (text.length > limits.length) throw invalid(`it has more than ${limits.length} characters`)
  const tokens = tokensOf(text)
  let at = 0
  let compared = 0

  const filter = either(0)
  if (at < tokens.length) throw invalid(`"${tokens[at]}" is not expected`)
  return filter

  function either(depth: number): ScimFilter {
    if (depth > limits.depth) throw invalid('it is nested too deeply')
    const parts = [both(depth)]
    while (takesWord('or')) parts.push(both(depth))
    const [first] = parts
    return first !== undefined && parts.length === 1 ? first : { kind: 'or', parts }
  }

  function both(depth: number): ScimFilter {
    const parts = [one(depth)]
    while (takesWord('and')) parts.push(one(depth))
    const [first] = parts
    return first !== undefined && parts.length === 1 ? first : { kind: 'and', parts }
  }

  function one(depth: number): ScimFilter {
    if (takesWord('not')) return { kind: 'not', part: grouped(depth) }
    return tokens[at] === '(' ? grouped(depth) : comparison()
  }

  function grouped(depth: number): ScimFilter {
    if (tokens[at++] !== '(') throw invalid('"(" is expected')
    const inner = either(depth + 1)
    if (tokens[at++] !== ')') throw invalid('")" is expected')
    return inner
  }

  function comparison(): ScimFilter {
    if (++compared > limits.comparisons) throw invalid(`it has more than ${limits.comparisons} comparisons`)
    const path = tokens[at++]
    if (path === undefined || !/^[a-z$][\w$.:-]*$/i.test(path)) throw invalid('the name of an attribute is expected')
    const word = tokens[at++]?.toLowerCase()
    const operator = comparisons.find((name) => name === word)
    if (operator === undefined) throw invalid(`"${word ?? ''}" is no operator that is supported here`)
    if (operator === 'pr') return { kind: 'compare', path, operator, value: undefined }
    return { kind: 'compare', path, operator, value: valueOf(tokens[at++]) }
  }

  function takesWord(word: string): boolean {
    if (tokens[at]?.toLowerCase() !== word) return false
    at++
    return true
  }
}

function tokensOf(text: string): string[] {
  const found: string[] = []
  const rest = text.trimEnd()
  token.lastIndex = 0
  while (token.lastIndex < rest.length) {
    const match = token.exec(rest)
    if (match === null) throw invalid('a text has no end')
    found.push(match[1] ?? match[2] ?? match[3] ?? '')
  }
  return found
}

function valueOf(given: string | undefined): string | boolean {
  if (given === 'true' || given === 'false') return given === 'true'
  if (given === undefined || !given.startsWith('"')) throw invalid('a text in quotes, true or false is expected')
  return given.slice(1, -1).replaceAll(/\\(.)/g, '$1')
}

const invalid = (reason: string) => new ScimError('invalidFilter', `The filter is wrong: ${reason}.`)
