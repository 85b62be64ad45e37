import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buildConsole } from '../local/build-console.ts'
import { buildProcesses } from '../local/build-for-next-start.ts'
import { prepareBrowser } from '../local/services/index.ts'
import { countsOf, failureLines, firstOf, parseOutcome } from './support/outcome.ts'

/**
 * `npm test [-- arguments for vitest]`: the whole suite, or what the arguments choose. The test
 * servers are started by vitest's global setup; a browser is installed where it can be. The slowest
 * files and what failed are listed at the end. The last line says how many passed and failed; no test at all is a
 * failure too. With `TEST_OUTCOME=FILE` the outcome is kept there.
 */
const root = path.dirname(import.meta.dirname)
const folder = mkdtempSync(path.join(tmpdir(), 'assistant-report-'))
const report = process.env['TEST_OUTCOME'] ?? path.join(folder, 'outcome.json')
const vitest = path.join(path.dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
const reporterFile = (name: string) => path.join(import.meta.dirname, 'support', `${name}-reporter.ts`)
const reporters = ['default', reporterFile('slowest-files'), reporterFile('outcome')].map(
  (name) => `--reporter=${name}`,
)

if (process.env['UPDATE_TEST_TIMES'] === '1' && process.argv.length > 2) {
  console.error('UPDATE_TEST_TIMES=1 keeps the times of the whole suite: run npm test without arguments.')
  process.exit(1)
}

// What an earlier run left says nothing about this one.
rmSync(report, { force: true })

// Here rather than in the test that needs it: an installation may take longer than a test may.
await prepareBrowser(console.log).catch((error: unknown) => console.log(error instanceof Error ? error.message : error))

await buildConsole(console.log)
// Many tests of the whole suite start API and worker as processes, which take a third of the time from the bundle.
if (process.argv.length === 2) await buildProcesses(console.log)

const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...process.argv.slice(2)], {
  cwd: root,
  env: { ...process.env, TEST_OUTCOME: report },
  stdio: 'inherit',
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
process.on('disconnect', () => child.kill('SIGTERM'))

child.on('exit', (code, signal) => {
  const outcome = parseOutcome(readReport())
  // E.g. a server that did not stop, of which the reporter learns nothing.
  if (code !== 0 && countsOf(outcome).failed === 0) outcome.outside.push(`the runner ended with ${signal ?? code}`)
  writeFileSync(report, JSON.stringify(outcome))
  rmSync(folder, { recursive: true, force: true })
  const failures = firstOf(failureLines(outcome))
  if (failures.length > 0) console.log(`\n${failures.join('\n')}\n`)
  const { passed, failed } = countsOf(outcome)
  console.log(`${passed} passed, ${failed} failed`)
  process.exit(failed > 0 || passed === 0 ? 1 : 0)
})

function readReport(): string | undefined {
  try {
    return readFileSync(report, 'utf8')
  } catch {
    return undefined
  }
}
