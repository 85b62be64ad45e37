import { mkdtemp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from './eventually.ts'
import { plainEnv } from './plain-env.ts'
import { runScript } from './run-script.ts'
import { runWithLimit } from './run-with-limit.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'assistant-repeats-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** What each file of the project does; `first` is true only in the first run. */
const files = {
  'unstable.test.ts': `test('fails once', () => expect(first).toBe(false))
    test('stands', () => {})`,
  'broken.test.ts': `test('fails always', () => expect('this').toBe('that'))
    test('stands', () => {})`,
  'dies.test.ts': `test('dies once', () => { if (first) process.kill(process.pid, 'SIGTRAP'); return wait() })`,
  'throws-late.test.ts': `if (first) setTimeout(() => { throw new Error('too late') }, 1)
    test('waits', wait)`,
  'does-not-load.test.ts': `if (first) throw new Error('cannot be loaded')
    describe('of it', () => test('stands', () => {}))`,
  'good.test.ts': `test('stands', () => {})`,
}

/** A project of Vitest that runs its files as ours does. */
async function project(): Promise<string> {
  const folder = await temporaryFolder()
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  await mkdir(path.join(folder, 'marks'))
  const config = { test: { include: ['*.test.ts'], pool: 'forks', isolate: false, maxWorkers: 2 } }
  await writeFile(path.join(folder, 'vitest.config.mjs'), `export default ${JSON.stringify(config)}`)
  for (const [name, text] of Object.entries(files)) {
    const mark = JSON.stringify(path.join(folder, 'marks', name))
    const head = `import { existsSync, writeFileSync } from 'node:fs'
      import { describe, expect, test } from 'vitest'
      const first = !existsSync(${mark})
      const wait = () => new Promise((resolve) => setTimeout(resolve, 200))
      writeFileSync(${mark}, '')`
    await writeFile(path.join(folder, name), `${head}\n${text}\n`)
  }
  return folder
}

test('a failure that does not repeat is kept and shown, one that does fails the run', async () => {
  const folder = await project()
  const outcome = path.join(folder, 'outcome.json')
  const at = (name: string) => path.relative(root, path.join(folder, name))

  const first = await runScript('test/run.ts', { TEST_OUTCOME: outcome }, { exitCode: 1, args: ['--root', folder] })
  // Nothing is repeated by npm test itself.
  expect(first.said.split('\n').slice(-8)).toEqual([
    expect.stringMatching(/^failed: /),
    expect.stringMatching(/^failed: /),
    expect.stringMatching(/^failed: /),
    expect.stringMatching(/^failed: /),
    expect.stringMatching(/^failed: /),
    '',
    '4 passed, 5 failed',
    '',
  ])

  const args = [outcome, 'lint=0', 'typecheck=1', '--', '--root', folder]
  const { said } = await runScript('test/repeat-failed.ts', {}, { exitCode: 1, args })
  const lines = said.trimEnd().split('\n')
  expect(lines.at(-1)).toBe('8 passed, 2 failed')
  expect(lines.slice(-7, -5)).toEqual([
    'failed: npm run typecheck',
    expect.stringMatching(`^failed: ${at('broken.test.ts')} › fails always: expected 'this' to be 'that'`),
  ])
  expect(lines.slice(-5, -1).toSorted()).toEqual([
    expect.stringMatching(`^unstable: ${at('dies.test.ts')}: Worker exited unexpectedly with signal SIGTRAP$`),
    expect.stringMatching(`^unstable: ${at('does-not-load.test.ts')}: cannot be loaded`),
    expect.stringMatching(`^unstable: ${at('throws-late.test.ts')}: outside of tests: too late`),
    expect.stringMatching(`^unstable: ${at('unstable.test.ts')} › fails once: expected true to be false`),
  ])
  expect(said.match(/^> repeating .*$/gm)).toHaveLength(5)
})

test('a run that left nothing has failed', async () => {
  const folder = await temporaryFolder()
  const { said } = await runScript('test/repeat-failed.ts', {}, { exitCode: 1, args: [path.join(folder, 'nothing')] })
  expect(said.trimEnd().split('\n').slice(-2)).toEqual([
    'failed: outside of tests: the run left no outcome',
    '0 passed, 1 failed',
  ])
})

test('what does not end in its time is ended, with what it has started', async () => {
  const folder = await temporaryFolder()
  const pids = path.join(folder, 'pids')
  const stubborn = `process.on('SIGTERM', () => {})
    setInterval(() => {}, 1000)
    require('node:fs').appendFileSync(${JSON.stringify(pids)}, process.pid + ' ')`
  const script = `${stubborn}
    require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(stubborn)}])`
  const time = new AbortController()
  const options = { cwd: folder, env: plainEnv(), timeIsOver: time.signal, graceMs: 10 }
  const running = runWithLimit(['-e', script], options)
  const started = await eventually('both processes', async () => {
    const words = (await readFile(pids, 'utf8')).trim().split(' ')
    return words.length === 2 && words.map(Number)
  })
  time.abort()
  await running
  await eventually('their end', () => started.every((pid) => !isThere(pid)))
  expect(started).toHaveLength(2)
})

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
