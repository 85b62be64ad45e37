import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Reporter, TestModule } from 'vitest/node'

const root = path.resolve(import.meta.dirname, '../..')

/**
 * Prints one line for each failure as the last thing of a run: a reader of the end of a long log sees what failed
 * without the log. What was thrown outside of tests has a line too, since it fails the run.
 */
export default class FailuresReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { message: string }[]): void {
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

const ofErrors = (where: string, errors: readonly { message: string }[]) =>
  errors.length > 0 ? [line(where, errors)] : []

/** `where` and the first line of the first error, on one line of at most 300 characters. */
function line(where: string, errors: readonly { message: string }[]): string {
  const message = stripVTControlCharacters(errors[0]?.message ?? '').split('\n', 1)[0]
  return `failed: ${where}: ${message}`.replaceAll(/\s+/g, ' ').slice(0, 300)
}
