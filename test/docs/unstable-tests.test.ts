import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = path.join(import.meta.dirname, '../..')
const page = readFileSync(path.join(root, 'docs/testing.md'), 'utf8')

test('no test is unstable twice', () => {
  const [, list = ''] = /^## Unstable tests\n(.*?)^## /ms.exec(page) ?? []
  const tests = Array.from(list.matchAll(/^\| \d{4}-\d\d-\d\d \| (.*?) \|/gm), ([, name = '']) => name.trim())
  const files = tests.map((name) => /^`(test\/.*\.test\.ts)`/.exec(name)?.[1] ?? name)
  expect(files.length).toBe(list.match(/^\| \d/gm)?.length ?? 0)
  expect(files.filter((file) => !existsSync(path.join(root, file)))).toEqual([])
  // It is mended now, or its claim is dropped (docs/testing.md).
  expect(tests.filter((name, index) => tests.indexOf(name) !== index)).toEqual([])
})
