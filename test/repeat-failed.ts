import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Outcome, parseOutcome } from './support/outcome.ts'
import { repeatFailedFiles } from './support/repeat-failed-files.ts'
import { runWithLimit } from './support/run-with-limit.ts'

/**
 * The end of `.ci/run`: `repeat-failed.ts OUTCOME... [CHECK=STATUS...] [-- ARGUMENTS]` repeats each test file that
 * failed in the runs that left these outcomes, once, alone, in a new process (with these arguments for vitest), and adds
 * the checks that say only yes or no. The last lines name what failed, what is unstable, and how many passed and failed.
 */
const root = path.dirname(import.meta.dirname)
const folder = mkdtempSync(path.join(tmpdir(), 'assistant-repeats-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

const [given, forEach] = splitAt('--', process.argv.slice(2))
const checks = given.map((text) => /^(.+)=(\d*)$/.exec(text) ?? []).filter(([whole]) => whole !== undefined)
const outcomes = given.filter((text) => !text.includes('=')).map((file) => parseOutcome(readIfThere(file)))

const { passed, failed, lines } = await repeatFailedFiles(outcomes, repeat)

const refused = checks.filter(([, , status]) => status !== '0')
console.log()
for (const line of [...refused.map(([, name]) => `failed: npm run ${name}`), ...lines]) console.log(line)
const counts = { passed: passed + checks.length - refused.length, failed: failed + refused.length }
console.log(`${counts.passed} passed, ${counts.failed} failed`)
process.exit(counts.failed > 0 || passed === 0 ? 1 : 0)

async function repeat(file: string, limitMs: number): Promise<Outcome> {
  console.log(`\n> repeating ${file} alone`)
  const outcome = path.join(folder, 'outcome.json')
  rmSync(outcome, { force: true })
  const config = file.endsWith('.long.test.ts') ? ['--config', 'vitest.long.config.ts'] : []
  const run = [path.join(import.meta.dirname, 'run.ts'), ...config, ...forEach, path.join(root, file)]
  const env = { ...process.env, TEST_OUTCOME: outcome }
  await runWithLimit(run, { cwd: root, env, timeIsOver: AbortSignal.timeout(limitMs) })
  return parseOutcome(readIfThere(outcome))
}

function splitAt(mark: string, words: readonly string[]): [string[], string[]] {
  const at = words.includes(mark) ? words.indexOf(mark) : words.length
  return [words.slice(0, at), words.slice(at + 1)]
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
