import { expect, it } from 'vitest'
import { startTimeSkipping } from '../support/time-skipping.ts'

it('a time-skipping server that runs already is used through the private method of the test environment', async () => {
  const server = await startTimeSkipping()
  try {
    const before = await server.now()
    await server.sleep(3_600_000)
    const problem = 'TestWorkflowEnvironment.create no longer makes an environment that skips time'
    expect((await server.now()) - before, problem).toBeGreaterThanOrEqual(3_600_000)
  } finally {
    await server.close()
  }
})
