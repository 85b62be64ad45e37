import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = path.join(import.meta.dirname, '../..')
const linesOf = async (file: string) => (await readFile(path.join(root, file), 'utf8')).split('\n')

test('the image holds nothing of local/, and so not the launcher of a database under the GPL', async () => {
  const allowed = (await linesOf('.dockerignore')).filter((line) => line && !line.startsWith('#'))
  // Everything is left out but what is named.
  expect(allowed[0]).toBe('*')
  const sent = allowed.slice(1)
  expect(sent.length).toBeGreaterThan(5)
  expect(sent.every((line) => /^![a-z.-]+$/.test(line))).toBe(true)
  expect(sent).not.toContain('!local')
  const copied = (await linesOf('Dockerfile')).filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
  expect(copied.length).toBeGreaterThan(5)
  for (const line of copied) expect(line).not.toMatch(/COPY \.|local/)
})
