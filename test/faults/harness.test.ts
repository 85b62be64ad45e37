import { describe, expect, it } from 'vitest'
import { runFaults } from '../../faults/run-faults.ts'

/** `npm run faults` does the same with more faults, and with other seeds. */
const faults = 36
const seed = 'continuous integration'

describe('the whole service under faults', { timeout: 900_000 }, () => {
  it(`loses nothing and does nothing twice while ${faults} faults are injected under load`, async () => {
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
  })

  it('finds the loss when the database loses its journal', async () => {
    const { problems } = await runFaults({ faults: 2, seed, isControl: true, say: () => {} })
    expect(problems.filter(({ kind }) => kind === 'lost').length).toBeGreaterThan(0)
  })
})
