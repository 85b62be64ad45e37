import { expect, test } from 'vitest'
import type { Outcome } from './outcome.ts'
import { repeatFailedFiles } from './repeat-failed-files.ts'

const a = 'test/a.test.ts'

/** An outcome by file: names of tests, with `!` before those that failed; `!` alone is the file as a whole. */
const outcome = (files: Record<string, string[]>, ...outside: string[]): Outcome => ({
  files: Object.entries(files).map(([file, tests]) => ({
    file,
    passed: tests.filter((name) => !name.startsWith('!')),
    failures: tests
      .filter((name) => name.startsWith('!'))
      .map((name) => ({ ...(name.length > 1 && { test: name.slice(1) }), message: 'no' })),
  })),
  outside,
})

test.each([
  ['passes again', ['!x', 'y'], ['x', 'y'], 2, 0, [`unstable: ${a} › x: no`]],
  ['fails again', ['!x', 'y'], ['!x', 'y'], 1, 1, [`failed: ${a} › x: no`]],
  ['fails with another test', ['!x', 'y'], ['x', '!y'], 1, 1, [`failed: ${a} › y: no`, `unstable: ${a} › x: no`]],
  ['is not run again', ['!x', 'y'], ['y'], 1, 1, [`failed: ${a} › x: did not run again`]],
  ['fails as a whole, then passes', ['!'], ['x', 'y'], 2, 0, [`unstable: ${a}: no`]],
  ['fails as a whole, then in a test', ['!'], ['x', '!y'], 1, 1, [`failed: ${a} › y: no`, `unstable: ${a}: no`]],
  ['fails as a whole twice', ['!'], ['!'], 0, 1, [`failed: ${a}: no`]],
  ['fails as a whole and then has no tests', ['!'], [], 0, 1, [`failed: ${a}: did not run again`]],
  ['fails in a hook of a suite, then passes', ['!s', 'y'], ['s > x', 'y'], 2, 0, [`unstable: ${a} › s: no`]],
  ['throws outside of its tests, then passes', ['x', '!'], ['x'], 1, 0, [`unstable: ${a}: no`]],
])('a file that %s', async (_name, first, again, passed, failed, lines) => {
  const repeated: string[] = []
  const conclusion = await repeatFailedFiles([outcome({ [a]: first })], async (file) => {
    repeated.push(file)
    return outcome({ [a]: again, 'test/other.test.ts': ['!z'] })
  })
  expect(conclusion).toEqual({ passed, failed, lines })
  expect(repeated).toEqual([a])
})

test('repeats only what failed, of all runs, and keeps what belongs to no file', async () => {
  const runs = [outcome({ [a]: ['x'], b: ['!x'] }, 'a server did not stop'), outcome({ c: ['!x'] })]
  const repeated: string[] = []
  const conclusion = await repeatFailedFiles(runs, async (file) => {
    repeated.push(file)
    return outcome({ [file]: ['x'] })
  })
  expect(repeated).toEqual(['b', 'c'])
  expect(conclusion).toEqual({
    passed: 3,
    failed: 1,
    lines: ['failed: outside of tests: a server did not stop', 'unstable: b › x: no', 'unstable: c › x: no'],
  })
})

test('what fails outside of tests in a repeat fails the file', async () => {
  const conclusion = await repeatFailedFiles([outcome({ [a]: ['!x'] })], async () => outcome({ [a]: ['x'] }, 'boom'))
  expect(conclusion).toEqual({ passed: 1, failed: 1, lines: [`failed: ${a}: boom`, `unstable: ${a} › x: no`] })
})

const manyFiles = (count: number) =>
  outcome(Object.fromEntries(Array.from({ length: count }, (_, index) => [`test/${index}.test.ts`, ['!x']])))

test.each([
  [5, 0],
  [6, 1],
])('%i unstable files make %i failures', async (count, failed) => {
  const conclusion = await repeatFailedFiles([manyFiles(count)], async (file) => outcome({ [file]: ['x'] }))
  expect(conclusion).toMatchObject({ passed: count, failed })
  expect(conclusion.lines.filter((line) => line.startsWith('unstable: '))).toHaveLength(count)
})

test('repeats nothing when too much failed, and nothing when its time is over', async () => {
  const never = () => Promise.reject(new Error('repeated'))
  const many = await repeatFailedFiles([manyFiles(21)], never)
  expect(many.failed).toBe(22)
  expect(many.lines.slice(-1)).toEqual(['and 2 more'])
  const limits = { repeatedFiles: 20, unstableFiles: 5, fileMs: 1, allMs: 0 }
  expect(await repeatFailedFiles([outcome({ [a]: ['!x'] })], never, limits)).toEqual({
    passed: 0,
    failed: 2,
    lines: [`failed: ${a} › x: no`, `failed: outside of tests: no time was left to repeat ${a}`],
  })
})
