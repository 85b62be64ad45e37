import { expect, it } from 'vitest'
import { runFaults } from '../../faults/run-faults.ts'
import { inForm } from '../support/long-form.ts'
import { seed, timeoutMs } from './support.ts'

/** `npm run faults` does the same with more faults, and with other seeds. */
const faults = inForm({ long: 60, short: 12 })

it(
  `loses nothing and does nothing twice while ${faults} faults are injected under load`,
  { timeout: timeoutMs },
  async () => {
    const { injected, problems, intended, acknowledged, table, dataDir } = await runFaults({
      faults,
      seed,
      say: () => {},
    })
    console.log(table)
    expect(problems, `logs and data are in ${dataDir}`).toEqual([])
    expect(injected).toHaveLength(faults)
    // Nothing lost says nothing when nothing was done.
    for (const kind of ['account', 'thread', 'run', 'completion', 'upload', 'deletion']) {
      expect(acknowledged[kind], kind).toBeGreaterThan(0)
      expect(acknowledged[kind], kind).toBe(intended[kind])
    }
  },
)
