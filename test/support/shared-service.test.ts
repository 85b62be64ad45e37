import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { longTests, quickTests } from './tiers.ts'

const root = path.resolve(import.meta.dirname, '../..')
const files = globSync('test/**/*.test.ts', { cwd: root }).map((file) => ({
  file,
  source: readFileSync(path.join(root, file), 'utf8'),
}))
const own = path.relative(root, import.meta.filename)
const sharing = files.filter(({ file, source }) => file !== own && /\buseSharedService\(/.test(source))
const breaking = (what: RegExp, among = sharing) =>
  among.filter(({ file, source }) => file !== own && what.test(source)).map(({ file }) => file)

it('files that use the shared service give it no settings', () => {
  expect(sharing.length).toBeGreaterThan(30)
  expect(breaking(/\buseSharedService\(\{(?! respond\b)(?!\s*respond\b)/)).toEqual([])
  expect(breaking(/\buseSharedService\(\{[^}]*\b(env|settings|worker|onLog):/)).toEqual([])
})

it('they do not end it, and start no process that serves its queues', () => {
  // The type has no `close`; these are its parts.
  expect(
    breaking(/\bservice\.(api|worker|temporal|redis|databases)\b.*\.(close|quit|destroy|dropDatabase|flush\w+)\(/),
  ).toEqual([])
  expect(breaking(/\bstart(Api|Worker)Process\(service\b/)).toEqual([])
})

it('no file of a process with a shared service sets the clock, which would stop it', () => {
  // Each long test has a process of its own, too.
  const alone = [...quickTests(), ...globSync(longTests, { cwd: root })]
  const clocks = breaking(/\b(useFakeTimers|setSystemTime)\(/, files)
  expect(clocks.length).toBeGreaterThan(3)
  expect(clocks.filter((file) => !alone.includes(file))).toEqual([])
})
