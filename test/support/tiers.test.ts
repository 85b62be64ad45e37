import { expect, test } from 'vitest'
import { quickTests } from './tiers.ts'

const quick = quickTests()

test.each(['test/domain/terms.test.ts', 'test/architecture.test.ts', 'test/support/tiers.test.ts'])(
  '%s is in the quick tier',
  (file) => expect(quick).toContain(file),
)

test.each([
  ['takes the shared servers through a support file', 'test/projects/projects.test.ts'],
  ['starts other programs', 'test/local/npm-start.test.ts'],
  ['starts processes of the product that read files', 'test/knowledge/slow-files.test.ts'],
  ['starts the whole service under faults', 'test/faults/many-faults.long.test.ts'],
])('a file that %s is not', (_reason, file) => {
  expect(quick).not.toContain(file)
})

test('the quick tier holds enough files to be worth running', () => {
  expect(quick.length).toBeGreaterThan(30)
})
