import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import { slowestFiles, withTable } from './slowest-files.ts'

const root = path.resolve(import.meta.dirname, '../..')

/**
 * Prints the slowest files after a run. `UPDATE_TEST_TIMES=1` keeps the table in docs/testing.md.
 * The JSON report would not do: it leaves out hooks and imports, in which services start.
 */
export default class SlowestFilesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const times = modules.map((module) => {
      const { collectDuration, setupDuration, duration } = module.diagnostic()
      return { file: path.relative(root, module.moduleId), milliseconds: collectDuration + setupDuration + duration }
    })
    const table = slowestFiles(times)
    console.log(`\nThe slowest files:\n\n${table}\n`)
    if (process.env['UPDATE_TEST_TIMES'] !== '1') return
    const page = path.join(root, 'docs/testing.md')
    writeFileSync(page, withTable(readFileSync(page, 'utf8'), table))
  }
}
