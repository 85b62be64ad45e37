import { expect, it } from 'vitest'
import { createLogger } from '../../infra/logger.ts'
import { serveRuns } from '../../worker/serve-runs.ts'

it('a process that starts without Redis serves runs, and subscribes when Redis is back', async () => {
  const listening = Promise.withResolvers<void>()
  let tries = 0
  let isStopped = false
  const onSuperseded = async () => {
    tries++
    if (tries === 1) throw new Error('Disconnects client')
    listening.resolve()
    return async () => {
      isStopped = true
    }
  }
  const platform = {
    core: { stream: { onSuperseded } },
    runs: { engine: { attempts: { supersede: () => {} } }, sweepRuns: async () => {} },
  }
  const stop = await serveRuns(platform as never, createLogger('test', 'silent'))
  await listening.promise
  await stop()
  expect(tries).toBe(2)
  expect(isStopped).toBe(true)
})
