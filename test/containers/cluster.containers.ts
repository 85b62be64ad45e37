import { describe, expect, it } from 'vitest'
import { faultsOf } from './faults.ts'
import { startLoad, startStandInsForContainers } from './load.ts'
import { say, url, useContainers } from './setup.ts'

const chosen = [
  'kill api',
  'kill worker',
  'kill redis',
  'cut off redis',
  // A primary, for longer than a node of the cluster may be silent.
  'pause redis-2',
  'kill objects',
  'cut off objects',
  'slow objects',
  'kill proxy',
  'kill api and redis',
  'cut off worker and redis',
  'cut off worker and temporal',
  'cut off postgresql',
]

describe('docker-compose.cluster.yml', () => {
  const over = 'docker-compose.cluster.yml'
  const containers = useContainers({ project: 'cluster', over, standIns: startStandInsForContainers })

  it('loses and doubles nothing when one of several goes away', async () => {
    const { engine, installed, standIns } = containers()
    const faults = faultsOf(installed, ['objects', 'redis-2']).filter(({ fault }) => chosen.includes(fault))
    expect(faults).toHaveLength(chosen.length)
    const load = await startLoad({ installed, standIns, url, users: 2, seed: 'cluster', say, onBucket: true })
    for (const fault of faults) await load.disturb(fault)
    const role = 'REDISCLI_AUTH=$(cat /run/secrets/redis_password) redis-cli role | head -n 1'
    const ofPaused = await engine.podman(['exec', installed.container('redis-2'), 'sh', '-c', role])
    expect(ofPaused.trim(), 'its replica took over').toBe('slave')
    expect((await load.end()).map(({ kind, what }) => `${kind}: ${what}`)).toEqual([])
  }, 3_600_000)
})
