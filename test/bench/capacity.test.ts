import { expect, it } from 'vitest'
import { limitOf, planOf, utilisation } from '../../bench/capacity/plan.ts'

const costs = {
  run: { API: 30, worker: 6, Temporal: 12, database: 18, Redis: 1 },
  chunk: { API: 0.1, worker: 2, database: 0.5 },
  search: { API: 5, worker: 0, database: 1 },
}
const demand = {
  users: 10_000,
  runsPerMinute: 60,
  streamSeconds: 10,
  chunks: 0,
  dimensions: 1536,
  days: 30,
  searchesPerRun: 0,
}

it('a plan has as many cores as the processor time of all that is asked in a second, beside those that stay free', () => {
  const { parts, first } = planOf(costs, demand)
  const coresOf = (name: string) => parts.find((part) => part.name === name)?.cores
  expect(coresOf('API')).toBeCloseTo(0.03 / utilisation)
  expect(coresOf('database')).toBeCloseTo(0.018 / utilisation)
  expect(first).toBe('database')
  const more = planOf(costs, { ...demand, runsPerMinute: 6000, searchesPerRun: 1 }).parts
  expect(more.find(({ name }) => name === 'API')).toMatchObject({ processes: 6 })
  // One more of each than is needed, so that one can be replaced.
  expect(parts.find(({ name }) => name === 'API')).toMatchObject({ processes: 2 })
})

it('chunks cost processor time while they are taken in, and disk for ever', () => {
  const { parts } = planOf(costs, { ...demand, runsPerMinute: 0, chunks: 50_000_000 })
  const worker = parts.find(({ name }) => name === 'worker')
  expect(worker?.cores).toBeCloseTo((0.002 * 50_000_000) / (30 * 86_400) / utilisation)
  expect(worker?.diskGiB).toBeCloseTo((50_000_000 * 7644) / 2 ** 30, 0)
})

it('a machine is full when its runs take all of its cores', () => {
  expect(limitOf({ API: 30, worker: 10 }, 2)).toBe(50)
})
