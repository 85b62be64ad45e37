import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { micromark } from 'micromark'
import { describe, expect, it } from 'vitest'
import { isTooDense } from '../../web/src/lib/markdown/bounds.ts'
import { watchProcessor } from '../support/slowness.ts'

/** What is dear to read, each in another way. */
const dear = [
  '*a_ ',
  `${'*a_ '.repeat(374)}\n\n`,
  '[a] ',
  '[a](',
  '![',
  '`a``',
  '<a ',
  '> ',
  `${'>'.repeat(50)}a\n`,
  '- a\n',
  '- **a**\n',
  '1. a\n',
  '7. *a_ ',
  'a|b\n',
  '[a]: b\n',
  '[a][b]',
  '[^a]',
  'http://a. ',
  'word ',
  'a\n',
  '<div>\n```\n\n*a_ ',
]

/** As much of it as is read. */
function longest(piece: string): string {
  let times = Math.floor(400_000 / piece.length)
  while (times > 1 && isTooDense(piece.repeat(times))) times = Math.floor(times * 0.8)
  return piece.repeat(times)
}

describe('a text that would hold the page up', () => {
  it.each([
    '*a_ '.repeat(5000),
    '[a] '.repeat(20_000),
    '>'.repeat(20_000),
    '- a\n'.repeat(20_000),
    'a'.repeat(400_000),
  ])('is found: %.20s', (text) => {
    expect(isTooDense(text)).toBe(true)
  })

  it.each([
    ['behind a fence that is none', `<div>\n\`\`\`\n\n${'*a_ '.repeat(5000)}`],
    ['behind a fence that has ended', `\`\`\`\ncode\n\`\`\`\n${'*a_ '.repeat(5000)}`],
    ['behind a fence of a list', `- a\n\n  \`\`\`\n\n${'*a_ '.repeat(5000)}`],
    ['on lines with numbers', '2. *a_ *a_\n'.repeat(2000)],
  ])('is found %s', (_what, text) => {
    expect(isTooDense(text)).toBe(true)
  })

  it('is not an ordinary long one', () => {
    const root = path.join(import.meta.dirname, '../..')
    const pages = globSync(['docs/*.md', 'README.md'], { cwd: root })
    expect(pages.length).toBeGreaterThan(20)
    expect(pages.filter((page) => isTooDense(readFileSync(path.join(root, page), 'utf8')))).toEqual([])
    expect(isTooDense(`Look:\n\`\`\`ts\n${'const [a, b] = [c * d, e[f]]\n'.repeat(5000)}\`\`\`\nDone.`)).toBe(false)
    expect(isTooDense('- **a** is *b*, see [c](https://d.example)\n'.repeat(400))).toBe(false)
  })

  it('is measured and read in less than a second of processor time, whatever it holds', () => {
    const slow = dear.flatMap((piece) => {
      const text = longest(piece)
      const watch = watchProcessor()
      isTooDense(text)
      micromark(text)
      const took = watch()
      return took > 1000 ? [`${piece.slice(0, 20)}: ${took} ms`] : []
    })
    expect(slow).toEqual([])
  })
})
