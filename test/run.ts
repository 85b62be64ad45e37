import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buildConsole } from '../local/build-console.ts'
import { buildProcesses } from '../local/build-for-next-start.ts'
import { prepareBrowser } from '../local/services/index.ts'
import { countTests } from './support/count-tests.ts'

/**
 * `npm test [-- arguments for vitest]`: the whole suite, or what the arguments choose. The test
 * servers are started by vitest's global setup; a browser is installed where it can be. The slowest
 * files and what failed are listed at the end. The last line says how many passed and failed; no test at all is a
 * failure too.
 */
const root = path.dirname(import.meta.dirname)
const folder = mkdtempSync(path.join(tmpdir(), 'assistant-report-'))
const report = path.join(folder, 'report.json')
const vitest = path.join(path.dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
const slowest = path.join(import.meta.dirname, 'support/slowest-files-reporter.ts')
const failures = path.join(import.meta.dirname, 'support/failures-reporter.ts')
const reporters = [
  ['--reporter=default', `--reporter=${slowest}`, `--reporter=${failures}`],
  ['--reporter=json', `--outputFile.json=${report}`],
].flat()

if (process.env['UPDATE_TEST_TIMES'] === '1' && process.argv.length > 2) {
  console.error('UPDATE_TEST_TIMES=1 keeps the times of the whole suite: run npm test without arguments.')
  process.exit(1)
}

// Here rather than in the test that needs it: an installation may take longer than a test may.
await prepareBrowser(console.log).catch((error: unknown) => console.log(error instanceof Error ? error.message : error))

await buildConsole(console.log)
// Many tests of the whole suite start API and worker as processes, which take a third of the time from the bundle.
if (process.argv.length === 2) await buildProcesses(console.log)

const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
process.on('disconnect', () => child.kill('SIGTERM'))

child.on('exit', (code) => {
  const { passed, failed } = countTests(readReport(), code === 0)
  rmSync(folder, { recursive: true, force: true })
  console.log(`${passed} passed, ${failed} failed`)
  process.exit(failed > 0 || passed === 0 ? 1 : 0)
})

function readReport(): unknown {
  try {
    return JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    return undefined
  }
}
