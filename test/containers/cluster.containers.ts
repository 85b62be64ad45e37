import { describe, expect, it } from 'vitest'
import { faultsOf } from './faults.ts'
import { startLoad, startStandInsForContainers } from './load.ts'
import { say, url, useContainers } from './setup.ts'

const chosen = [
  'kill api',
  'kill worker',
  'kill redis',
  'cut off redis',
  'kill objects',
  'cut off objects',
  'kill proxy',
]

describe('docker-compose.cluster.yml', () => {
  const over = 'docker-compose.cluster.yml'
  const containers = useContainers({ project: 'cluster', over, standIns: startStandInsForContainers })

  it('loses and doubles nothing when one of several goes away', async () => {
    const { installed, standIns } = containers()
    const faults = faultsOf(installed, ['objects']).filter(({ fault }) => chosen.includes(fault))
    expect(faults).toHaveLength(chosen.length)
    const load = await startLoad({ installed, standIns, url, users: 2, seed: 'cluster', say, onBucket: true })
    for (const fault of faults) await load.disturb(fault)
    expect((await load.end()).map(({ kind, what }) => `${kind}: ${what}`)).toEqual([])
  }, 3_600_000)
})
