import { readFileSync } from 'node:fs'
import path from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { filesIn } from './slowest-files.ts'

const root = path.resolve(import.meta.dirname, '../..')

/**
 * Begins with the slowest files of the last kept run, in the order of the table in docs/testing.md. A clean clone has
 * no times of its own, and a slow file that begins last leaves a processor idle.
 */
export default class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const slowest = filesIn(readFileSync(path.join(root, 'docs/testing.md'), 'utf8'))
    const place = ({ moduleId }: TestSpecification) => {
      const at = slowest.indexOf(path.relative(root, moduleId))
      return at < 0 ? slowest.length : at
    }
    // A process that has files of one project does not take those of another, so they stand together.
    const project = ({ project: { name } }: TestSpecification) => projects.indexOf(name)
    const sorted = await super.sort(files)
    const projects = [...new Set(sorted.map((file) => file.project.name))]
    return sorted.toSorted((a, b) => place(a) - place(b) || project(a) - project(b))
  }
}
