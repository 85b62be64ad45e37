import Type from 'typebox'
import Value from 'typebox/value'

/** What is read of the JSON report that vitest writes (the shape of Jest's). */
const Report = Type.Object({
  testResults: Type.Array(
    Type.Object({
      status: Type.String(),
      assertionResults: Type.Array(Type.Object({ status: Type.String() })),
    }),
  ),
})

/**
 * Counts test cases. A file that could not be loaded counts as one failure, and so does a run that
 * failed though each of its tests passed (an error outside of tests), or that left no report.
 */
export function countTests(report: unknown, runSucceeded: boolean): { passed: number; failed: number } {
  if (!Value.Check(Report, report)) return { passed: 0, failed: 1 }
  const cases = report.testResults.flatMap((file) => file.assertionResults)
  const count = (status: string) => cases.filter((test) => test.status === status).length
  const unloadable = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length
  const failed = count('failed') + unloadable
  return { passed: count('passed'), failed: failed === 0 && !runSucceeded ? 1 : failed }
}
