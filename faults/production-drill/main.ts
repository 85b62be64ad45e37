import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { table } from '../../bench/statistics.ts'
import { runProductionDrill } from './run-drill.ts'
import { redisKinds } from './servers.ts'

/**
 * `npm run production-drill -- [--redis single|cluster|sentinel]`: prints a table of the steps; ends with status 1 at
 * the first that fails.
 */
const load = () => loadavg()[0]?.toFixed(2)
console.log(`${new Date().toISOString()}, Node ${process.version}, ${cpus().length} cores, load ${load()}`)
try {
  const { redis = 'single' } = parseArgs({ options: { redis: { type: 'string' } } }).values
  const kind = redisKinds.find((known) => known === redis)
  if (kind === undefined) throw new Error(`--redis must be one of ${redisKinds.join(', ')}`)
  const steps = await runProductionDrill((line) => console.log(`> ${line}`), kind)
  const rows = steps.map(({ step, seen, seconds }) => [step, seen, seconds.toFixed(1)])
  console.log(`\n${table(['step', 'seen', 'seconds'], rows)}\n\nThe production drill passed.`)
} catch (error) {
  console.error(error)
  console.error('The production drill failed.')
  process.exitCode = 1
}
