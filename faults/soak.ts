import { readdir } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { processOf } from '../bench/processes.ts'
import { quantile, table } from '../bench/statistics.ts'
import type { Problem } from './client-log.ts'
import { type WholeService, processNames, serverNames } from './service.ts'

/** By process: resident memory in MiB, and open files with sockets. */
export type Sample = Record<string, { memory: number; files: number }>

export interface SoakReport {
  /** Medians of each quarter of the time. */
  table: string
  /** One for each process of the service that has grown. */
  problems: Problem[]
}

const names = [...processNames, ...serverNames]
const samples = 120
const measures = [
  { measure: 'memory', unit: 'MiB', allowed: 40 },
  { measure: 'files', unit: 'open files', allowed: 30 },
] as const
/** What a process may gain from the second quarter to the last: caches fill, and the collector is lazy. */
const allowedShare = 0.1

/** Lets clients work for `minutes` without a fault, and measures each process meanwhile. */
export async function soak(
  service: Pick<WholeService, 'pidOf'>,
  { minutes, say }: { minutes: number; say: (line: string) => void },
): Promise<SoakReport> {
  const from = Date.now()
  const taken: Sample[] = []
  for (let number = 1; number <= samples; number++) {
    await pause((minutes * 60_000) / samples)
    taken.push(await sample(service))
    if (number % (samples / 4) === 0) say(`${(number * 100) / samples} % of ${minutes} minutes`)
  }
  return soakReport(taken, { from, until: Date.now() })
}

/** Databases keep what clients store, so they are shown but not judged. */
export function soakReport(taken: Sample[], { from, until }: Pick<Problem, 'from' | 'until'>): SoakReport {
  const each = taken.length / 4
  const quarters = [0, 1, 2, 3].map((quarter) => taken.slice(quarter * each, (quarter + 1) * each))
  const mediansOf = (name: string, measure: 'memory' | 'files') =>
    quarters.map((quarter) =>
      quantile(
        quarter.map((one) => one[name]?.[measure] ?? 0),
        0.5,
      ),
    )
  const problems = processNames.flatMap((name) =>
    measures.flatMap(({ measure, unit, allowed }): Problem[] => {
      const [, second = 0, , last = 0] = mediansOf(name, measure)
      if (last - second <= Math.max(allowed, second * allowedShare)) return []
      const what = `${name} grew from ${second.toFixed(0)} to ${last.toFixed(0)} ${unit}`
      return [{ kind: 'wrong', what, from, until }]
    }),
  )
  const heads = measures.flatMap(({ unit }) => [1, 2, 3, 4].map((quarter) => `${unit}, quarter ${quarter}`))
  const rows = names.map((name) => [
    name,
    ...measures.flatMap(({ measure }) => mediansOf(name, measure).map((median) => median.toFixed(0))),
  ])
  return { table: table(['', ...heads], rows), problems }
}

async function sample({ pidOf }: Pick<WholeService, 'pidOf'>): Promise<Sample> {
  const measured = names.map(async (name) => {
    const pid = pidOf(name)
    const [memory, files] = await Promise.all([processOf(pid).memoryMiB(), readdir(`/proc/${pid}/fd`)])
    return [name, { memory, files: files.length }] as const
  })
  return Object.fromEntries(await Promise.all(measured))
}
