import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import {
  type JsonLimits,
  JsonLimitError,
  foreignJson,
  jsonExcess,
  parseForeignJson,
} from '../../domain/foreign-json.ts'

const none: JsonLimits = { bytes: Infinity, depth: Infinity, containers: Infinity, members: Infinity }
const kinds = ['bytes', 'depth', 'containers', 'members'] as const

describe('jsonExcess', () => {
  it('agrees with the parsed value about every limit, exactly', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom('', ' ', '\n\t', '  '), (value, space) => {
        const text = JSON.stringify(value, null, space)
        const sizes = { ...sizesOf(value), bytes: Buffer.byteLength(text) }
        expect(jsonExcess(text, sizes)).toBeUndefined()
        for (const kind of kinds) {
          if (sizes[kind] === 0) continue
          expect(jsonExcess(text, { ...none, [kind]: sizes[kind] - 1 })).toBe(kind)
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('reads strings as the parser does, whatever quotes, backslashes and brackets they hold', () => {
    const nasty = fc.string({
      unit: fc.constantFrom('"', '\\', '[', '{', ']', '}', ',', ':', 'u', '\u0000', 'é', '😀'),
    })
    fc.assert(
      fc.property(fc.array(nasty), nasty, (list, key) => {
        const value = [...list, { [key]: [] }]
        const text = JSON.stringify(value)
        expect(jsonExcess(text, { ...sizesOf(value), bytes: Buffer.byteLength(text) })).toBeUndefined()
        expect(jsonExcess(text, { ...none, members: sizesOf(value).members - 1 })).toBe('members')
        expect(jsonExcess(text, { ...none, depth: 2 })).toBe('depth')
      }),
      { numRuns: 2000 },
    )
  })

  it('never admits what the parser gets to see beyond a limit, in text that is not JSON', () => {
    const pieces = fc.constantFrom(
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '"a"',
      '"',
      '\\',
      '1',
      'true',
      ' ',
      '"\\""',
      '[]',
      '{"b":',
    )
    fc.assert(
      fc.property(fc.string({ unit: pieces, maxLength: 60 }), fc.nat(6), (text, limit) => {
        const seen = seenByParser(text)
        const admitted = (['depth', 'containers', 'members'] as const).filter(
          (kind) => seen[kind] > limit && jsonExcess(text, { ...none, [kind]: limit }) !== kind,
        )
        expect(admitted).toEqual([])
      }),
      { numRuns: 5000 },
    )
  })

  it('measures bytes, not characters', () => {
    expect(jsonExcess('"é"', { ...none, bytes: 4 })).toBeUndefined()
    expect(jsonExcess('"é"', { ...none, bytes: 3 })).toBe('bytes')
    expect(jsonExcess('"😀"', { ...none, bytes: 5 })).toBe('bytes')
  })
})

describe('parseForeignJson', () => {
  it('returns what the parser returns, `__proto__` as plain data', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        expect(parseForeignJson(text, { bytes: Infinity })).toEqual(JSON.parse(text))
      }),
    )
    expect(Object.keys(Object(parseForeignJson('{"__proto__":{"a":1}}', { bytes: 100 })))).toEqual(['__proto__'])
  })

  it('says what is exceeded, and hands nothing of it to the parser', () => {
    const parse = vi.spyOn(JSON, 'parse')
    const refusals: [string, string][] = [
      [`${'['.repeat(65)}${']'.repeat(65)}`, 'nests deeper than 64 levels'],
      ['{"a":'.repeat(3_000_000), 'nests deeper than 64 levels'],
      [`[${'[],'.repeat(5_000_000)}1]`, 'holds more than 50,000 objects and arrays'],
      [`[${'1,'.repeat(200_000)}1]`, 'holds more than 200,000 members'],
      [`"${'a'.repeat(20_000_000)}"`, 'is larger than 16,000,000 bytes'],
    ]
    for (const [text, message] of refusals)
      expect(() => parseForeignJson(text, { bytes: 16_000_000 })).toThrow(new RegExp(`^${message}$`))
    expect(parse).not.toHaveBeenCalled()
    parse.mockRestore()
  })

  it('throws a typed error, and the parser’s own for broken text', () => {
    expect(() => parseForeignJson('[[]]', { bytes: 100, depth: 1 })).toThrow(JsonLimitError)
    expect(() => parseForeignJson('[', { bytes: 100 })).toThrow(SyntaxError)
    expect(parseForeignJson(`${'['.repeat(64)}${']'.repeat(64)}`, { bytes: 200 })).toBeDefined()
    expect(foreignJson.depth).toBe(64)
  })
})

function sizesOf(value: unknown): Omit<JsonLimits, 'bytes'> {
  if (typeof value !== 'object' || value === null) return { depth: 0, containers: 0, members: 0 }
  const entries: unknown[] = Object.values(value)
  const inner = entries.map(sizesOf)
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    containers: 1 + inner.reduce((sum, { containers }) => sum + containers, 0),
    members: entries.length + inner.reduce((sum, { members }) => sum + members, 0),
  }
}

/** A plain recursive reader of JSON that counts until the first error, where `JSON.parse` stops as well. */
function seenByParser(text: string): Omit<JsonLimits, 'bytes'> {
  const seen = { depth: 0, containers: 0, members: 0 }
  let at = 0
  const space = () => {
    while (/[ \t\n\r]/.test(text.charAt(at))) at += 1
  }
  const take = (token: RegExp): boolean => {
    const found = new RegExp(token.source, 'y')
    found.lastIndex = at
    const [match] = found.exec(text) ?? []
    if (match !== undefined) at += match.length
    return match !== undefined
  }
  const string = /"(?:[^"\\]|\\.)*"/
  const value = (depth: number): boolean => {
    space()
    const opens = text.charAt(at)
    if (opens !== '[' && opens !== '{') return take(string) || take(/-?\d+|true|false|null/)
    at += 1
    seen.containers += 1
    seen.depth = Math.max(seen.depth, depth + 1)
    const closes = opens === '[' ? /\]/ : /\}/
    space()
    if (take(closes)) return true
    for (;;) {
      if (opens === '{') {
        space()
        if (!take(string)) return false
        space()
        if (!take(/:/)) return false
      }
      if (!value(depth + 1)) return false
      seen.members += 1
      space()
      if (take(closes)) return true
      if (!take(/,/)) return false
    }
  }
  value(0)
  return seen
}
