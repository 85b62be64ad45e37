import { existsSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { runFaults } from './run-faults.ts'
import { thisCheckout } from './service.ts'

/**
 * `npm run faults -- --faults 60 --seed 1`: injects faults into the whole service under load, and counts what was
 * lost or doubled. `--only kill` injects faults of that name alone, `--clients` sets how many users work at once,
 * and `--control` injects a loss that must be found. Exits with 1 if something is wrong, or if the control finds no
 * loss.
 *
 * `--upgrade` does a rolling upgrade and its rollback instead, and lets clients work for `--seconds` between two steps.
 * `--from FOLDER` begins with the code of another checkout, whose packages are installed.
 *
 * `--soak 30` lets clients work for so many minutes without a fault, after which no process of the service may have
 * grown.
 */
const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now()) },
    only: { type: 'string', default: '' },
    clients: { type: 'string', default: '4' },
    control: { type: 'boolean', default: false },
    upgrade: { type: 'boolean', default: false },
    from: { type: 'string', default: thisCheckout.root },
    seconds: { type: 'string', default: '15' },
    soak: { type: 'string' },
  },
})
const { seed, only, control: isControl } = values
const [faults, clients] = [wholeNumber('faults', values.faults), wholeNumber('clients', values.clients)]
const upgrade = values.upgrade
  ? { from: checkout(values.from), pauseMs: wholeNumber('seconds', values.seconds) * 1000 }
  : undefined
const soakMinutes = values.soak === undefined ? undefined : wholeNumber('soak', values.soak)
const done = upgrade
  ? 'an upgrade and its rollback'
  : soakMinutes
    ? `${soakMinutes} minutes without a fault`
    : `${faults} faults`
const load = () => loadavg()[0]?.toFixed(2)

console.log(
  `${new Date().toISOString()}, Node ${process.version}, ${cpus().length} cores, load ${load()} before the start`,
)
console.log(`seed ${seed}`)
const startedAt = Date.now()
const { problems, table, intended, acknowledged, dataDir } = await runFaults({
  faults,
  seed,
  only,
  clients,
  isControl,
  ...(upgrade && { upgrade }),
  soakMinutes,
  say: (line) => console.log(line),
})
console.log(`\n${table}\n`)
for (const [kind, count] of Object.entries(intended))
  console.log(`${kind}: ${count} intended, ${acknowledged[kind] ?? 0} acknowledged`)
for (const { kind, what } of problems.slice(0, 100)) console.log(`${kind}: ${what}`)
console.log(
  `\nseed ${seed}, ${done}, ${Math.round((Date.now() - startedAt) / 1000)} s, load ${load()} at the end. ${problems.length === 0 ? 'Nothing lost, nothing doubled.' : `${problems.length} problems.`}`,
)
const isLossFound = problems.some(({ kind }) => kind === 'lost')
if (isControl)
  console.log(isLossFound ? 'The control found the loss.' : 'The control found NO loss: the checker is blind.')
else if (problems.length > 0) console.log(`Logs, data and the client's log are in ${dataDir}.`)
process.exit(isControl === isLossFound && (isControl || problems.length === 0) ? 0 : 1)

function wholeNumber(name: string, value: string): number {
  const number = Number(value)
  if (Number.isInteger(number) && number > 0) return number
  console.error(`--${name} must be a whole number above 0, and is ${value}`)
  process.exit(2)
}

function checkout(folder: string): string {
  const root = path.resolve(folder)
  if (existsSync(path.join(root, 'api/server.ts')) && existsSync(path.join(root, 'node_modules'))) return root
  console.error(`--from must be a checkout of this project with its packages (npm ci), and is ${root}`)
  process.exit(2)
}
