import { cpus, loadavg } from 'node:os'
import { nameOfMongo, prepareMongo } from '../local/services/mongo/index.ts'
import { benchCapacity } from './capacity/index.ts'
import { databaseParts } from './database/index.ts'
import { type BenchContext, withBenchContext } from './environment.ts'
import { knowledgeParts } from './knowledge/index.ts'
import { benchLogins } from './logins.ts'
import { benchNpmStart } from './npm-start.ts'
import { benchRecovery } from './recovery.ts'
import { benchRetrieval } from './retrieval/index.ts'
import { benchRuns } from './runs/index.ts'
import { benchMemory } from './runs/memory.ts'
import { benchReads } from './runs/reads.ts'
import { benchSteps } from './runs/steps.ts'
import { benchTurns } from './runs/turns.ts'
import { benchScale } from './scale/index.ts'
import { benchSchedules } from './schedules.ts'
import { benchSizes } from './sizes.ts'
import { benchStart } from './start.ts'
import { benchStreams } from './streams.ts'

/** Each part is measured on its own servers, because data of an earlier part would slow down the next. */
const parts: Record<string, (context: BenchContext) => Promise<void>> = {
  runs: benchRuns,
  steps: benchSteps,
  turns: benchTurns,
  reads: benchReads,
  ...knowledgeParts,
  ...databaseParts,
  start: benchStart,
  'npm-start': benchNpmStart,
  memory: benchMemory,
  logins: benchLogins,
  recovery: benchRecovery,
  streams: benchStreams,
  schedules: benchSchedules,
  sizes: benchSizes,
  capacity: benchCapacity,
  scale: benchScale,
}
/** Measured in this process, with no server. */
const partsAlone: Record<string, (context: Pick<BenchContext, 'log'>) => Promise<void>> = { retrieval: benchRetrieval }
const groups: Record<string, string[]> = {
  cost: ['runs', 'steps', 'turns', 'reads'],
  knowledge: Object.keys(knowledgeParts),
  database: Object.keys(databaseParts),
}

/** Half an hour and gigabytes. */
const onlyWhenNamed = ['scale']

/**
 * `npm run bench` measures everything but what takes long or downloads a model; `npm run bench -- runs` only the named
 * parts.
 */
const everything = Object.keys(parts).filter((name) => !onlyWhenNamed.includes(name))
const named = process.argv.length > 2 ? process.argv.slice(2) : everything
const wanted = named.flatMap((name) => groups[name] ?? [name])
const unknown = wanted.filter((name) => !(name in parts || name in partsAlone))
if (unknown.length > 0) {
  const known = [parts, partsAlone, groups].flatMap((of) => Object.keys(of)).join(', ')
  console.error(`There is no benchmark called ${unknown.join(', ')}; known are ${known}.`)
  process.exit(1)
}
const load = () => loadavg()[0]?.toFixed(2)
console.log(
  `\n${new Date().toISOString()}, Node ${process.version}, ${cpus().length} cores, load ${load()} before the start`,
)
for (const name of wanted.filter((name) => name in partsAlone)) {
  console.log(`\n## ${name}`)
  await partsAlone[name]?.({ log: (line) => console.log(line) })
}
const withServers = wanted.filter((name) => name in parts)
if (withServers.length > 0) {
  const { value: mongo } = await prepareMongo((line) => console.log(`> ${line}`))
  const database = await nameOfMongo(mongo)
  for (const name of withServers) {
    console.log(`\n## ${name}, on ${database}`)
    await withBenchContext(async (context) => parts[name]?.(context))
  }
}
console.log(`\nload ${load()} at the end`)
