import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestError } from 'vitest'
import type { Reporter, TestModule, TestSpecification } from 'vitest/node'
import type { Failure, FileOutcome, Outcome } from './outcome.ts'

const root = path.resolve(import.meta.dirname, '../..')

const unfinished: Failure = { message: 'the run ended before the file did' }

/**
 * Writes the outcome of a run to the file that `TEST_OUTCOME` names: at its beginning as if each file had failed,
 * which stays if the run dies, and at its end as it was.
 */
export default class OutcomeReporter implements Reporter {
  #files: string[] = []

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#files = specifications.map(({ moduleId }) => moduleId)
    write({
      files: this.#files.map((file) => ({ file: named(file), passed: [], failures: [unfinished] })),
      outside: [],
    })
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly TestError[]): void {
    const files = new Map(modules.map((module) => [module.moduleId, outcomeOf(module)]))
    // A file whose process did not start was not even begun.
    for (const file of this.#files)
      if (!files.has(file)) files.set(file, { file: named(file), passed: [], failures: [unfinished] })
    const outside: string[] = []
    for (const error of unhandled) {
      const running = files.get(String(error['VITEST_TEST_PATH']))
      const dying = [...files].find(([file]) => says(error, file))?.[1]
      // A process that dies after its last test leaves a file that has passed.
      if (dying) dying.failures = [...dying.failures.filter((one) => one !== unfinished), { message: deathIn(error) }]
      else if (running) running.failures.push({ message: `outside of tests: ${messageOf([error])}` })
      else outside.push(messageOf([error]))
    }
    write({ files: [...files.values()], outside })
  }
}

function write(outcome: Outcome): void {
  const file = process.env['TEST_OUTCOME']
  if (file !== undefined) writeFileSync(file, JSON.stringify(outcome))
}

const named = (file: string) => path.relative(root, file)

function outcomeOf(module: TestModule): FileOutcome {
  const file = named(module.moduleId)
  const passed = [...module.children.allTests('passed')].map(({ fullName }) => fullName)
  const tests = [...module.children.allTests('failed')].map((test) => ({
    test: test.fullName,
    message: messageOf(test.result().errors ?? []),
  }))
  const suites = [...module.children.allSuites()].flatMap((suite) =>
    suite.errors().length > 0 ? [{ test: suite.fullName, message: messageOf(suite.errors()) }] : [],
  )
  const whole = module.errors().length > 0 ? [{ message: messageOf(module.errors()) }] : []
  const failures: Failure[] = [...tests, ...suites, ...whole]
  if (failures.length === 0 && !['passed', 'skipped'].includes(module.state())) failures.push(unfinished)
  return { file, passed, failures }
}

/** The first error, and its place in the test. */
function messageOf(errors: readonly TestError[]): string {
  const [error] = errors
  const place = error?.stacks?.find(({ file }) => file.endsWith('.test.ts'))
  return `${(error?.message || error?.name || 'no message').slice(0, 400)}${place ? ` (line ${place.line})` : ''}`
}

/** Whether an error is the death of the process that had this file: only the message of its cause names it. */
const says = ({ message, cause }: TestError, file: string) =>
  message.startsWith('[vitest-pool]') && `${message} ${cause?.message}`.includes(file)

/** "Worker exited unexpectedly with signal SIGTRAP", without the paths behind it. */
const deathIn = ({ message, cause }: TestError) => (cause?.message ?? message).replace(/ (?:during|for) .*/s, '')
