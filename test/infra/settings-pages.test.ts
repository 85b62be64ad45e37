import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it } from 'vitest'
import { envExample, settingsPage, withRateLimits } from '../support/settings-pages.ts'

const inRoot = (file: string) => path.join(import.meta.dirname, '../..', file)

it.each([
  ['.env.example', envExample],
  ['docs/settings.md', settingsPage],
  ['docs/limits.md', withRateLimits],
])('%s is made from the schema (npm run settings)', async (file, make) => {
  const current = await readFile(inRoot(file), 'utf8').catch(() => '')
  const made = make(current)
  expect(made.length).toBeGreaterThan(5000)
  if (process.env['UPDATE_SETTINGS']) await writeFile(inRoot(file), made)
  expect(await readFile(inRoot(file), 'utf8')).toBe(made)
})
