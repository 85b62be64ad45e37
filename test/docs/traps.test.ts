import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = path.join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')

test('each file with a trap names the page of traps', () => {
  const files = Array.from(read('docs/traps.md').matchAll(/`([\w./-]+\/[\w.-]+\.tsx?)`/g), ([, file]) => file ?? '')
  const named = files.filter((file) => !file.startsWith('test/infra/') && !file.startsWith('test/runs/'))
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((file) => !read(file).includes('docs/traps.md'))).toEqual([])
})
