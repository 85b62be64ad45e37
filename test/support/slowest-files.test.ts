import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { filesIn, slowestFiles, withTable } from './slowest-files.ts'

const times = Array.from({ length: 25 }, (_, index) => ({ file: `test/${index}.test.ts`, milliseconds: index * 1000 }))
const numbersIn = (table: string) => [...table.matchAll(/test\/(\d+)\.test\.ts/g)].map(([, number]) => Number(number))

test('the table has the twenty slowest files, the slowest first', () => {
  expect(numbersIn(slowestFiles(times))).toEqual(Array.from({ length: 20 }, (_, index) => 24 - index))
})

test('the table in docs/testing.md is replaced, and what is around it stays', () => {
  const page = readFileSync(new URL('../../docs/testing.md', import.meta.url), 'utf8')
  const once = withTable(page, slowestFiles(times))
  expect(filesIn(once)).toEqual(Array.from({ length: 20 }, (_, index) => `test/${24 - index}.test.ts`))
  expect(withTable(once, 'another table')).toBe(withTable(page, 'another table'))
  expect(once.startsWith(page.slice(0, page.indexOf('<!-- slowest')))).toBe(true)
})

test('a page without a place for the table is refused', () => {
  expect(() => withTable('# A page', 'a table')).toThrow('around its table')
})
