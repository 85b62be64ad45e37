import { expect, it } from 'vitest'
import { runFaults } from '../../faults/run-faults.ts'
import { thisCheckout } from '../../faults/service.ts'
import { inForm } from '../support/long-form.ts'
import { seed, timeoutMs } from './support.ts'

/** How long clients work between two steps of the upgrade. */
const pauseMs = inForm({ long: 15_000, short: 0 })

it(
  'loses nothing and does nothing twice in a rolling upgrade and its rollback under load',
  { timeout: timeoutMs },
  async () => {
    const { injected, problems, intended, acknowledged, dataDir } = await runFaults({
      faults: 0,
      upgrade: { from: thisCheckout.root, pauseMs },
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
  },
)
