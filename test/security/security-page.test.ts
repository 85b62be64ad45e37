import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFile(new URL(path, root), 'utf8')

/** `test/folder/file.test.ts` › `name of the test` */
const reference = /`(test\/[\w./-]+\.test\.ts)` › `([^`]+)`/g

describe('docs/security.md', async () => {
  const page = await read('docs/security.md')
  const references = [...page.matchAll(reference)].map(([, file = '', name = '']) => ({ file, name }))

  it('names tests', () => {
    expect(references.length).toBeGreaterThan(40)
  })

  it.each(references)('names $file, which has the test "$name"', async ({ file, name }) => {
    const source = await read(file)
    const quoted = [`'${name}'`, `"${name}"`, `\`${name}\``]
    expect(quoted.some((text) => source.includes(text))).toBe(true)
  })

  it('names a test in each point, or another point, or says that there is none and why', () => {
    const points = page.split('\n').filter((line) => /^- \*\*(API\d+|LLM\d+|V\d+) /.test(line))
    expect(points.length).toBeGreaterThan(30)
    const isExplained = /Operator:|Open:|Not applicable:|See (API|LLM|V)\d+/
    const silent = points.filter((point) => point.search(reference) < 0 && !isExplained.test(point))
    expect(silent).toEqual([])
  })
})
