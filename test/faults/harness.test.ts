import { describe, expect, it } from 'vitest'
import { runFaults } from '../../faults/run-faults.ts'
import { thisCheckout } from '../../faults/service.ts'

/** `npm run faults` does the same with more faults, and with other seeds. */
const faults = 60
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

  it('loses nothing and does nothing twice in a rolling upgrade and its rollback under load', async () => {
    const { injected, problems, intended, acknowledged, dataDir } = await runFaults({
      faults: 0,
      upgrade: { from: thisCheckout.root, pauseMs: 0 },
      clients: 2,
      seed,
      say: () => {},
    })
    expect(problems, `logs and data are in ${dataDir}`).toEqual([])
    // The order of docs/operations/upgrade.md.
    const workersFirst = [
      'start workers',
      'ramp',
      'make current',
      'replace API',
      'replace API',
      'drain and stop workers',
    ]
    const apiFirst = ['start workers', 'replace API', 'replace API', 'ramp', 'make current', 'drain and stop workers']
    expect(injected.map(({ fault }) => fault)).toEqual(['migrate', ...workersFirst, ...apiFirst])
    for (const kind of ['account', 'thread', 'run']) {
      expect(acknowledged[kind], kind).toBeGreaterThan(0)
      expect(acknowledged[kind], kind).toBe(intended[kind])
    }
  })

  it('measures each process while clients work without a fault', async () => {
    const { problems, acknowledged, table, dataDir } = await runFaults({
      faults: 0,
      soakMinutes: 0.2,
      clients: 2,
      seed,
      say: () => {},
    })
    // In so short a time, processes that have just started still grow.
    const others = problems.filter(({ what }) => !what.includes(' grew from '))
    expect(others, `logs and data are in ${dataDir}`).toEqual([])
    expect(acknowledged['run']).toBeGreaterThan(0)
    const rows = table.split('\n').slice(2)
    expect(rows).toHaveLength(7)
    for (const row of rows) expect(row).toMatch(/^\| [\w ]+ \|( [1-9]\d* \|){8}$/)
  })

  it('finds the loss when the database loses its journal', async () => {
    const { problems } = await runFaults({ faults: 2, seed, isControl: true, say: () => {} })
    expect(problems.filter(({ kind }) => kind === 'lost').length).toBeGreaterThan(0)
  })
})
