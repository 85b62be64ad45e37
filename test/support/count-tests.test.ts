import { expect, test } from 'vitest'
import { countTests } from './count-tests.ts'

const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((result) => ({ status: result })),
})

test.each([
  ['all passed', { testResults: [file('passed', 'passed', 'passed')] }, true, { passed: 2, failed: 0 }],
  ['some failed', { testResults: [file('failed', 'passed', 'failed')] }, false, { passed: 1, failed: 1 }],
  [
    'a file that does not load',
    { testResults: [file('failed'), file('passed', 'passed')] },
    false,
    { passed: 1, failed: 1 },
  ],
  ['an error outside of tests', { testResults: [file('passed', 'passed')] }, false, { passed: 1, failed: 1 }],
  ['no tests', { testResults: [] }, true, { passed: 0, failed: 0 }],
  ['no report', undefined, false, { passed: 0, failed: 1 }],
])('%s', (_name, report, succeeded, expected) => {
  expect(countTests(report, succeeded)).toEqual(expected)
})
