import { cpus, loadavg } from 'node:os'
import { table } from '../../bench/statistics.ts'
import { runProductionDrill } from './run-drill.ts'

/** `npm run production-drill`: prints a table of the steps; ends with status 1 at the first that fails. */
const load = () => loadavg()[0]?.toFixed(2)
console.log(`${new Date().toISOString()}, Node ${process.version}, ${cpus().length} cores, load ${load()}`)
try {
  const steps = await runProductionDrill((line) => console.log(`> ${line}`))
  const rows = steps.map(({ step, seen, seconds }) => [step, seen, seconds.toFixed(1)])
  console.log(`\n${table(['step', 'seen', 'seconds'], rows)}\n\nThe production drill passed.`)
} catch (error) {
  console.error(error)
  console.error('The production drill failed.')
  process.exitCode = 1
}
