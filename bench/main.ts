import { cpus, loadavg } from 'node:os'
import { type BenchContext, withBenchContext } from './environment.ts'
import { benchKnowledge, knowledgeParts } from './knowledge/index.ts'
import { benchRuns } from './runs.ts'

/** `npm run bench` measures everything; `npm run bench -- runs` only the parts that are named. */
const wholes: Record<string, (context: BenchContext) => Promise<void>> = { runs: benchRuns, knowledge: benchKnowledge }
const parts = { ...wholes, ...knowledgeParts }

const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(wholes)
const unknown = wanted.filter((name) => !(name in parts))
if (unknown.length > 0) {
  console.error(`There is no benchmark called ${unknown.join(', ')}; known are ${Object.keys(parts).join(', ')}.`)
  process.exit(1)
}
await withBenchContext(async (context) => {
  context.log(
    `\n${new Date().toISOString()}, Node ${process.version}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(2)} before the start`,
  )
  for (const name of wanted) {
    context.log(`\n## ${name}`)
    await parts[name]?.(context)
  }
  context.log(`\nload ${loadavg()[0]?.toFixed(2)} at the end`)
})
