import { describe, expect, it } from 'vitest'
import { type Sample, soakReport } from '../../faults/soak.ts'

const time = { from: 0, until: 1 }

/** Forty samples in which all processes are steady, but for what `grown` says of the worker. */
function samples(grown: (number: number) => Partial<Sample[string]>): Sample[] {
  const steady = { memory: 300, files: 50 }
  const others = ['api 1', 'api 2', 'worker 1', 'MongoDB', 'Redis', 'Temporal']
  return Array.from({ length: 40 }, (_, number) => ({
    ...Object.fromEntries(others.map((name) => [name, steady])),
    'worker 2': { ...steady, ...grown(number) },
  }))
}

describe('the report of a soak', () => {
  it('shows the medians of each quarter, and finds no fault with what is steady', () => {
    const { table, problems } = soakReport(
      samples(() => ({})),
      time,
    )
    expect(problems).toEqual([])
    expect(table).toContain('| worker 2 | 300 | 300 | 300 | 300 | 50 | 50 | 50 | 50 |')
  })

  it('allows the growth of the first minutes', () => {
    expect(
      soakReport(
        samples((number) => ({ memory: number < 10 ? 100 : 300 })),
        time,
      ).problems,
    ).toEqual([])
  })

  it('finds memory and open files that grow until the end', () => {
    const found = soakReport(
      samples((number) => ({ memory: 300 + number * 5, files: 50 + number * 3 })),
      time,
    ).problems
    expect(found.map(({ what }) => what)).toEqual([
      'worker 2 grew from 375 to 475 MiB',
      'worker 2 grew from 95 to 155 open files',
    ])
  })
})
