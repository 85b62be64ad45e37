import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { TestError } from 'vitest'
import type { Reporter, TestModule } from 'vitest/node'

const root = path.resolve(import.meta.dirname, '../..')

/**
 * Prints one line for each failure as the last thing of a run: a reader of the end of a long log sees what failed
 * without the log. What was thrown outside of tests has a line too, since it fails the run.
 */
export default class FailuresReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly TestError[]): void {
    const failures = [...modules.flatMap(failuresOf), ...unhandled.map((error) => line('outside of tests', [error]))]
    if (failures.length > 0) console.log(`\n${failures.join('\n')}\n`)
  }
}

function failuresOf(module: TestModule): string[] {
  const file = path.relative(root, module.moduleId)
  const tests = [...module.children.allTests('failed')].map((test) =>
    line(`${file} > ${test.fullName}`, test.result().errors ?? []),
  )
  const suites = [...module.children.allSuites()].flatMap((suite) =>
    ofErrors(`${file} > ${suite.fullName}`, suite.errors()),
  )
  return [...tests, ...suites, ...ofErrors(file, module.errors())]
}

const ofErrors = (where: string, errors: readonly TestError[]) => (errors.length > 0 ? [line(where, errors)] : [])

/** `where` and the first error with the place of its test, on one line of at most 600 characters. */
function line(where: string, errors: readonly TestError[]): string {
  const [error] = errors
  const message = stripVTControlCharacters(error?.message ?? '').slice(0, 400)
  const place = error?.stacks?.find(({ file }) => file.endsWith('.test.ts'))
  return `failed: ${where}: ${message}${place ? ` (line ${place.line})` : ''}`.replaceAll(/\s+/g, ' ').slice(0, 600)
}
