import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { run } from '../../local/services/command.ts'
import { freePort } from '../../local/services/ports.ts'
import { root } from '../../scripts/process-bundle.ts'
import { type Client, createClient } from './client.ts'
import { type Drill, beginDrill } from './drill.ts'
import { type Installation, apis, startProcesses, startProxy, workers } from './processes.ts'
import {
  type Postgresql,
  type RedisKind,
  makeSecrets,
  startDatabase,
  startPostgresql,
  startRedis,
  startTemporalServer,
} from './servers.ts'

/** One row of the table. */
export interface Step {
  step: string
  seen: string
  seconds: number
}

/** What is killed, by the names under which it was started. */
export const killed = ['api 1', 'worker 1', 'redis', 'temporal', 'postgresql', 'MongoDB', 'Caddy'] as const

/**
 * Starts what docker-compose.yml describes as processes of this machine, uses it through the proxy, kills each of its
 * processes in the middle of a run, replaces API and workers while requests come, and saves and restores its data.
 * Throws at the first step that fails. Everything is stopped and removed at the end.
 */
export async function runProductionDrill(say: (line: string) => void, redisKind: RedisKind): Promise<Step[]> {
  const steps: Step[] = []
  const step = async <T>(name: string, work: () => Promise<T>, seen: (result: T) => string): Promise<T> => {
    say(name)
    const startedAt = Date.now()
    const result = await work()
    steps.push({ step: name, seen: seen(result), seconds: (Date.now() - startedAt) / 1000 })
    return result
  }
  const drill = await beginDrill(say)
  try {
    const { installation, postgresql, redis } = await startAll(drill, step, redisKind)
    const client = await step(
      'quickstart',
      () => quickstart(installation),
      () => 'from sign-up to an answer, through the proxy',
    )
    for (const name of killed)
      await step(
        `kill ${name}`,
        () => client.askDuring(name === 'redis' ? redis.kill : () => drill.kill(name)),
        (seconds) => `the answer is whole, once, after ${seconds.toFixed(1)} s`,
      )
    await step(
      'rolling upgrade',
      () => upgrade(installation, client),
      ({ requests, refused }) => `${requests} requests meanwhile, ${refused} refused`,
    )
    await step(
      'backup',
      () => backUp(drill, installation, postgresql),
      ({ rows }) => `${rows} executions in Temporal's dump`,
    )
    await step(
      'restore',
      () => restore(drill, installation, postgresql),
      ({ said, rows }) => `${said} Temporal: ${rows} executions`,
    )
    return steps
  } catch (error) {
    say(`The logs are in ${await keepLogs(drill)}.`)
    throw error
  } finally {
    await drill.close()
  }
}

type TakeStep = <T>(name: string, work: () => Promise<T>, seen: (result: T) => string) => Promise<T>

async function startAll(drill: Drill, step: TakeStep, redisKind: RedisKind) {
  await makeSecrets(drill.folder)
  const postgresql = await step(
    'PostgreSQL',
    () => startPostgresql(drill),
    ({ version }) => version,
  )
  const temporal = await step(
    'Temporal',
    () => startTemporalServer(drill, postgresql),
    ({ version, shards }) => `server ${version} on PostgreSQL, ${shards} shards`,
  )
  const redis = await step(
    'Redis',
    () => startRedis(drill, redisKind),
    () => `${redisKind}, password and TLS`,
  )
  await step(
    'MongoDB',
    () => startDatabase(drill),
    (name) => name,
  )
  const proxyPort = await freePort()
  const installation = await startProcesses(drill, {
    temporalAddress: temporal.address,
    redisCaFile: redis.tlsCaFile,
    proxyPort,
  })
  await step('migrations', installation.migrate, () => 'as a job')
  await step(
    'API and workers',
    () => Promise.all([...apis, ...workers].map(installation.start)),
    () => 'two of each, as the image starts them',
  )
  const upstreams = apis.map((name) => `127.0.0.1:${installation.ports.get(name)}`)
  await step(
    'proxy',
    () => startProxy(drill, { port: proxyPort, upstreams }),
    (version) => `Caddy ${version}`,
  )
  return { installation, postgresql, redis }
}

/** The quickstart prints a token with which one can go on. */
async function quickstart({ url, mailboxUrl }: Installation): Promise<Client> {
  const script = path.join(root, 'examples/quickstart/quickstart.ts')
  const env = { ...process.env, API_URL: url, MAILBOX_URL: mailboxUrl }
  const printed = await run(process.execPath, [script], { env, timeoutMs: 120_000 })
  const token = /export API_TOKEN=(\S+)/.exec(printed)?.[1]
  if (token === undefined) throw new Error(`the quickstart printed no token: ${printed}`)
  return createClient(url, token)
}

/** Replaces one process after the other, workers first (docs/operations/upgrade.md), while requests come. */
async function upgrade(installation: Installation, client: Client) {
  const stopping = new AbortController()
  const counted = { requests: 0, refused: 0 }
  const refusals = new Set<string>()
  const ask = async () => {
    while (!stopping.signal.aborted) {
      // Alternately with a body: a proxy can send such a request to another process only if nothing read the body.
      const sent = counted.requests % 2 === 0 ? client.request('GET', '/assistants/') : client.createAssistant()
      const answer = await sent.catch(() => undefined)
      counted.requests++
      if (answer?.ok !== true) {
        counted.refused++
        refusals.add(String(answer?.status ?? 'no answer'))
      }
      await answer?.arrayBuffer()
      await pause(50)
    }
  }
  const asking = Promise.all([ask(), ask(), ask()])
  try {
    await client.askDuring(async () => {
      for (const name of [...workers, ...apis]) await installation.replace(name)
    })
  } finally {
    stopping.abort()
    await asking
  }
  if (counted.refused > 0)
    throw new Error(`${counted.refused} of ${counted.requests} requests were refused (${[...refusals].join(', ')})`)
  return counted
}

const savedIn = ({ folder }: Drill) => ({
  temporal: path.join(folder, 'backup-temporal.sql'),
  records: path.join(folder, 'backup'),
})

const executions = (postgresql: Postgresql, database: string) =>
  psql(postgresql, database, 'select count(*) from executions')

async function psql({ env }: Postgresql, database: string, statement: string): Promise<string> {
  const args = ['-v', 'ON_ERROR_STOP=1', '-qtA', '-d', database, '-c', statement]
  return (await run('psql', args, { env, timeoutMs: 60_000 })).trim()
}

/** In the order of docs/operations/back-up.md: Temporal first. */
async function backUp(drill: Drill, { env }: Installation, postgresql: Postgresql) {
  const to = savedIn(drill)
  await run('pg_dump', ['-f', to.temporal, 'temporal'], { env: postgresql.env, timeoutMs: 60_000 })
  const script = path.join(root, 'scripts/backup.ts')
  await run(process.execPath, [script, 'save', to.records], { env, timeoutMs: 120_000 })
  return { rows: await executions(postgresql, 'temporal') }
}

async function restore(drill: Drill, { env }: Installation, postgresql: Postgresql) {
  const from = savedIn(drill)
  await psql(postgresql, 'postgres', 'create database restored')
  await run('psql', ['-v', 'ON_ERROR_STOP=1', '-q', '-d', 'restored', '-f', from.temporal], {
    env: postgresql.env,
    timeoutMs: 60_000,
  })
  const rows = await executions(postgresql, 'restored')
  if (Number(rows) === 0) throw new Error('the dump of Temporal has no executions')
  const { MONGODB_URI_FILE: _live, ...secrets } = env
  const drilled = await run(process.execPath, [path.join(root, 'local/restore-drill.ts'), from.records], {
    env: secrets,
    timeoutMs: 180_000,
  })
  const said = /The drill passed[^\n]*/.exec(drilled)?.[0]
  if (said === undefined) throw new Error(`the restore failed: ${drilled.slice(-600)}`)
  return { said, rows }
}

async function keepLogs({ folder }: Drill): Promise<string> {
  const kept = `${folder}-logs`
  await run('cp', ['-r', path.join(folder, 'logs'), kept]).catch(() => undefined)
  return kept
}
