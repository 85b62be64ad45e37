import { describe, expect, it } from 'vitest'
import { createHealth } from '../../services/health.ts'

describe('the health of the service', () => {
  it('checks each dependency once for simultaneous requests', async () => {
    let asked = 0
    const check = async () => {
      asked += 1
    }
    const health = createHealth([{ name: 'mongo', check, isNeeded: true }], '1')
    const reports = await Promise.all(Array.from({ length: 100 }, () => health.report()))
    expect(asked).toBe(1)
    expect(new Set(reports.map(({ status }) => status))).toEqual(new Set(['ok']))
    expect(await Promise.all(Array.from({ length: 100 }, () => health.unavailableServices()))).toEqual(
      Array(100).fill([]),
    )
    expect(asked).toBe(2)
  })
})
