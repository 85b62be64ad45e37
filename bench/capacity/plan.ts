/** What one of each costs, as `bench -- capacity` measures it. */
export interface Costs {
  /** Milliseconds of processor time of a run, a chunk that is taken in and a search, by process. */
  run: Record<string, number>
  chunk: Record<string, number>
  search: Record<string, number>
}

/** What is asked of an installation. */
export interface Demand {
  users: number
  runsPerMinute: number
  /** Seconds for which the stream of a run is open. */
  streamSeconds: number
  chunks: number
  dimensions: number
  /** In how many days all chunks are taken in for the first time. */
  days: number
  searchesPerRun: number
}

/** How much of a processor may be used at the peak, so that waiting stays short. */
export const utilisation = 0.6
/** Memory of the API for a stream that is open, by `bench -- streams`. */
const streamKiB = 70
/** Runs and streams that one API process and one worker process carry are limited by the one core of JavaScript. */
const coresOfProcess = 1
/** Bytes that docs/scale.md measures: of a chunk's text and record in MongoDB, and beside each vector. */
const bytesOfChunk = 1_550
const bytesBesideVector = 1_500
const bytesOfRun = { mongo: 3_700, redis: 50_000, temporal: 2_753 }
const secondsOfDay = 86_400

export interface Part {
  name: string
  /** At the peak. */
  cores: number
  /** How many processes, where more than one can work. */
  processes: number | undefined
  memoryGiB: number | undefined
  diskGiB: number | undefined
}

/** How many of what an installation needs. The part with the most cores that cannot be multiplied goes first. */
export function planOf(costs: Costs, demand: Demand): { parts: Part[]; first: string } {
  const { runsPerMinute, streamSeconds, chunks, dimensions, days, searchesPerRun } = demand
  const perSecond = {
    run: runsPerMinute / 60,
    search: (runsPerMinute / 60) * searchesPerRun,
    chunk: chunks / (days * secondsOfDay),
  }
  const coresOf = (process: string) =>
    (['run', 'search', 'chunk'] as const).reduce(
      (sum, kind) => sum + ((costs[kind][process] ?? 0) / 1000) * perSecond[kind],
      0,
    ) / utilisation
  const gib = (bytes: number) => bytes / 2 ** 30
  const runsADay = runsPerMinute * 60 * 24
  const streams = perSecond.run * streamSeconds
  const vectors = chunks * (dimensions * 4 + bytesBesideVector)
  const part = (name: string, sizes: Partial<Part> = {}): Part => {
    const cores = coresOf(name)
    const own = { memoryGiB: undefined, diskGiB: undefined, ...sizes }
    const processes = isOurs(name) ? Math.max(2, Math.ceil(cores / coresOfProcess)) : undefined
    return { name, cores, processes, ...own }
  }
  const parts = [
    part('API', { memoryGiB: gib(streams * streamKiB * 1024) }),
    part('worker', { diskGiB: gib(vectors) }),
    part('Temporal', { diskGiB: gib(runsADay * 3 * bytesOfRun.temporal) }),
    part('database', { diskGiB: gib(chunks * bytesOfChunk + runsADay * 365 * bytesOfRun.mongo) }),
    part('Redis', { memoryGiB: gib(runsADay * bytesOfRun.redis) }),
  ]
  const single = parts.filter(({ name }) => !isOurs(name)).toSorted((a, b) => b.cores - a.cores)
  return { parts, first: single[0]?.name ?? '' }
}

/** API and workers are added by numbers; a store has to grow or be divided. */
const isOurs = (name: string) => name === 'API' || name === 'worker'

/** Runs a second at which a machine of so many cores is full, when all that a run needs is on it. */
export function limitOf(costOfRun: Record<string, number>, cores: number): number {
  const sum = Object.values(costOfRun).reduce((all, value) => all + value, 0)
  return (cores * 1000) / sum
}
