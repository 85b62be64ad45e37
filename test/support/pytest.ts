import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { run } from '../../local/services/command.ts'
import { pythonCompiled } from './python-packages.ts'

/** How tests of Python ended: how many passed, and of each that failed its name with the first words of the failure. */
interface PytestOutcome {
  passed: number
  failed: string[]
}

/** Runs pytest in a folder of tests. */
export async function runPytest(
  python: string,
  { folder, args = [], env, timeoutMs }: { folder: string; args?: string[]; env: NodeJS.ProcessEnv; timeoutMs: number },
): Promise<PytestOutcome> {
  const own = await mkdtemp(path.join(tmpdir(), 'pytest-'))
  try {
    const report = path.join(own, 'report.xml')
    const options = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', `--junitxml=${report}`, ...args, folder]
    const { PATH, HOME } = process.env
    // It ends with an error when tests fail.
    const ended = run(python, options, { cwd: own, env: { PATH, HOME, ...pythonCompiled, ...env }, timeoutMs })
    const problem = await ended.then(
      () => undefined,
      (error: unknown) => error,
    )
    const found = await readFile(report, 'utf8').catch(() => {
      throw new Error('pytest left no report', { cause: problem })
    })
    return outcomeOf(found)
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

/** Reads a report in JUnit's format. Tests that were skipped count as neither. */
function outcomeOf(report: string): PytestOutcome {
  const outcome: PytestOutcome = { passed: 0, failed: [] }
  for (const [, attributes = '', body = ''] of report.matchAll(/<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)) {
    const failure = /<(?:failure|error) message="([^"]*)"/.exec(body)?.[1]
    if (failure !== undefined) outcome.failed.push(`${nameOf(attributes)}: ${failure.slice(0, 300)}`)
    else if (!body.includes('<skipped')) outcome.passed += 1
  }
  return outcome
}

function nameOf(attributes: string): string {
  const value = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? ''
  return `${value('classname')} ${value('name')}`
}
