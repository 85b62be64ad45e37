import { describe, expect, it } from 'vitest'
import { faultsOf } from './faults.ts'
import { startLoad, startStandInsForContainers } from './load.ts'
import { say, url, useContainers } from './setup.ts'

/** Only faults whose name is so. */
const only = new RegExp(process.env['CONTAINERS_FAULTS'] ?? '')

describe('docker-compose.yml under load', () => {
  const containers = useContainers({ project: 'faults', standIns: startStandInsForContainers })

  it('loses and doubles nothing when containers are killed, stopped, paused, cut off, slowed, or have a wrong clock', async () => {
    const { installed, standIns } = containers()
    const faults = faultsOf(installed).filter(({ fault }) => only.test(fault))
    const load = await startLoad({ installed, standIns, url, users: 2, seed: 'faults', say })
    for (const fault of faults) await load.disturb(fault)
    expect((await load.end()).map(({ kind, what }) => `${kind}: ${what}`)).toEqual([])
  }, 7_200_000)
})
