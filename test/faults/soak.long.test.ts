import { expect, it } from 'vitest'
import { runFaults } from '../../faults/run-faults.ts'
import { inForm } from '../support/long-form.ts'
import { seed, timeoutMs } from './support.ts'

const soakMinutes = inForm({ long: 5, short: 0.2 })

it('measures each process while clients work without a fault', { timeout: timeoutMs }, async () => {
  const { problems, acknowledged, table, dataDir } = await runFaults({
    faults: 0,
    soakMinutes,
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
