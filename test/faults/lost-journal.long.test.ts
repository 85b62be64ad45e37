import { expect, it } from 'vitest'
import { runFaults } from '../../faults/run-faults.ts'
import { seed, timeoutMs } from './support.ts'

/** Proves that the other tests of faults would find a loss. */
it('finds the loss when the database loses its journal', { timeout: timeoutMs }, async () => {
  const { problems } = await runFaults({ faults: 2, seed, isControl: true, say: () => {} })
  expect(problems.filter(({ kind }) => kind === 'lost').length).toBeGreaterThan(0)
})
