import { describe, expect, it } from 'vitest'
import { withMathDelimiters } from '../../web/src/lib/markdown/math-delimiters.ts'

describe('formulas in a text', () => {
  it.each([
    ['as models write them', String.raw`Then \(x^2\) holds.`, 'Then $$x^2$$ holds.'],
    ['between dollars', 'Let $n$ be $a_1 + b$.', 'Let $$n$$ be $$a_1 + b$$.'],
    ['on lines of their own', String.raw`So \[ a = b \] and`, 'So \n$$\na = b\n$$\n and'],
    ['already so', '$$\na\n$$', '\n$$\na\n$$\n'],
    ['beside code', '`$n$` and $n$ and\n```\n$m$\n```', '`$n$` and $$n$$ and\n```\n$m$\n```'],
  ])('get double dollars: %s', (_what, text, expected) => {
    expect(withMathDelimiters(text)).toBe(expected)
  })

  it.each([
    'It costs $5, or $10 for two.',
    'From $5 to $6 = a lot',
    'US$ and A$ are not the same',
    'Set $HOME and $PATH.',
    String.raw`An open \( is none`,
    '```\n$n$',
    '$$\n\n$$',
  ])('are not seen in %s', (text) => {
    expect(withMathDelimiters(text)).toBeUndefined()
  })

  it('are left alone when there are too many, and hostile texts are read to their end', () => {
    expect(withMathDelimiters('$x$ '.repeat(301))).toBeUndefined()
    for (const piece of ['$', '\\(', '\\[', '`', '``` ` ', '$a', '~'])
      expect(withMathDelimiters(piece.repeat(100_000))).toBeUndefined()
  })
})
