import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { run } from '../../local/services/command.ts'
import { nameOfMongo, prepareMongo, startMongo } from '../../local/services/mongo/index.ts'
import { accepts, freePort } from '../../local/services/ports.ts'
import { prepareRedis } from '../../local/services/redis.ts'
import { startServer } from '../../local/services/server-process.ts'
import { prepareTemporal } from '../../local/services/temporal.ts'
import { root } from '../../scripts/process-bundle.ts'
import { createAuthority } from '../../test/support/certificates.ts'
import { eventually } from '../../test/support/eventually.ts'
import { startRedisCluster } from '../../test/support/redis-cluster.ts'
import { startRedisSentinels } from '../../test/support/redis-sentinels.ts'
import { type ServerTls, redisTls } from '../../test/support/redis-tls.ts'
import { type ComposeFile, mountedFile, scriptOf, versionOfImage } from './compose-file.ts'
import type { Drill } from './drill.ts'
import { type Programs, preparePostgresql, prepareTemporalServer } from './programs.ts'

const serviceOf = ({ services }: ComposeFile, name: string) => {
  const service = services[name]
  if (service === undefined) throw new Error(`docker-compose.yml has no service ${name}`)
  return service
}

/** PATH with the programs of the drill in front. */
const envOf = ({ folder, env }: Programs): NodeJS.ProcessEnv => ({
  ...process.env,
  ...env,
  PATH: `${folder}${path.delimiter}${process.env['PATH']}`,
})

const shell = (script: string, env: NodeJS.ProcessEnv, timeoutMs = 120_000) =>
  run('/bin/sh', ['-euc', script], { env, timeoutMs })

/** PostgreSQL refuses to run as root, as in its image: there it becomes a user without rights. */
const withoutRights = () =>
  process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []

export async function startPostgresql(drill: Drill) {
  const { folder, say } = drill
  const programs = await preparePostgresql(say)
  const [port, home] = [await freePort(), path.join(folder, 'postgresql')]
  await mkdir(home)
  const password = path.join(folder, 'secrets/postgres_password')
  const user = serviceOf(drill.compose, 'postgresql').environment?.['POSTGRES_USER'] ?? ''
  const passwordFile = path.join(home, 'password')
  await writeFile(passwordFile, await readFile(password))
  const prefix = withoutRights()
  if (prefix.length > 0) await run('chown', ['-R', '65534:65534', home])
  // PostgreSQL's programs take these in place of options.
  const env = {
    ...envOf(programs),
    PGDATA: path.join(home, 'data'),
    PGHOST: '127.0.0.1',
    PGPORT: String(port),
    PGUSER: user,
    PGPASSWORD: (await readFile(password, 'utf8')).trim(),
  }
  const [first, ...others] = [...prefix, 'initdb', '-U', user, '-E', 'UTF8', '--auth=scram-sha-256']
  await run(first, [...others, `--pwfile=${passwordFile}`], { env, cwd: home })
  const [command, ...args] = [...prefix, 'postgres', '-h', '127.0.0.1', '-k', home]
  const server = await startServer(
    {
      name: 'postgresql',
      command,
      args,
      env,
      cwd: home,
      logFile: path.join(folder, 'logs/postgresql.log'),
      ready: () =>
        run('pg_isready', [], { env }).then(
          () => true,
          () => false,
        ),
    },
    drill.watch,
  )
  drill.onEnd(server.stop)
  const [version = ''] = (await run('postgres', ['--version'], { env })).trim().split('\n')
  return { port, env, version }
}

export type Postgresql = Awaited<ReturnType<typeof startPostgresql>>

/** Schema, server and namespace of Temporal, by the scripts of the compose file. */
export async function startTemporalServer(drill: Drill, postgresql: Postgresql) {
  const { folder, compose, say } = drill
  const service = serviceOf(compose, 'temporal')
  const version = versionOfImage(compose, 'temporal')
  const programs = await prepareTemporalServer(version, say)
  const env = envOf(programs)
  const replaced = {
    '/run/secrets': path.join(folder, 'secrets'),
    '--ep postgresql -p 5432': `--ep 127.0.0.1 -p ${postgresql.port}`,
    '/etc/temporal/schema': programs.schema,
    '/etc/temporal/entrypoint.sh': 'temporal-server start',
  }
  await shell(scriptOf(serviceOf(compose, 'temporal-schema'), replaced), env)

  const dynamicConfig = mountedFile(compose, 'temporal', '/etc/temporal/dynamic-config.yaml')
  const [port, home] = [await freePort(), path.join(folder, 'temporal')]
  const address = `127.0.0.1:${port}`
  await mkdir(home)
  const server = await startServer(
    {
      name: 'temporal',
      command: '/bin/sh',
      args: ['-euc', scriptOf(service, replaced)],
      env: {
        ...env,
        ...service.environment,
        ...(await portsOfTemporal()),
        POSTGRES_SEEDS: '127.0.0.1',
        DB_PORT: String(postgresql.port),
        BIND_ON_IP: '127.0.0.1',
        FRONTEND_GRPC_PORT: String(port),
        PROMETHEUS_ENDPOINT: `127.0.0.1:${await freePort()}`,
        DYNAMIC_CONFIG_FILE_PATH: dynamicConfig,
        LOG_LEVEL: 'warn',
      },
      cwd: home,
      logFile: path.join(folder, 'logs/temporal.log'),
      ready: () => accepts(port),
    },
    drill.watch,
  )
  drill.onEnd(server.stop)
  const cli = await prepareTemporal(say)
  const cliEnv = { ...envOf({ folder: path.dirname(cli.value), env: {} }), TEMPORAL_ADDRESS: address }
  const namespace = scriptOf(serviceOf(compose, 'temporal-namespace'), {})
  const succeeds = (script: string) => shell(script, cliEnv, 20_000).then(() => true)
  await eventually('the creation of the namespace', () => succeeds(namespace), 60_000)
  await eventually('the namespace', () => succeeds('temporal operator namespace describe -n default'), 60_000)
  return { address, version, shards: service.environment?.['NUM_HISTORY_SHARDS'] ?? '' }
}

/** The services of one server talk to each other on ports of their own. */
async function portsOfTemporal(): Promise<Record<string, string>> {
  const names = ['FRONTEND_HTTP', 'FRONTEND_MEMBERSHIP', 'MATCHING_GRPC', 'MATCHING_MEMBERSHIP', 'HISTORY_GRPC']
  const env: Record<string, string> = {}
  for (const name of [...names, 'HISTORY_MEMBERSHIP', 'WORKER_GRPC', 'WORKER_MEMBERSHIP'])
    env[`${name}_PORT`] = String(await freePort())
  return env
}

/** What `npm run production-drill -- --redis …` takes. */
export const redisKinds = ['single', 'cluster', 'sentinel'] as const
export type RedisKind = (typeof redisKinds)[number]

/** Redis as the compose file starts it, or several servers in its place; with a password and TLS. */
export async function startRedis(drill: Drill, kind: RedisKind) {
  const home = path.join(drill.folder, 'redis')
  const authority = await createAuthority('drill')
  await mkdir(home)
  await writeFile(path.join(home, 'ca.pem'), authority.ca)
  const start = { single: startOneRedis, cluster: startCluster, sentinel: startSentinels }[kind]
  const { url, kill } = await start(drill, home, authority)
  await writeFile(path.join(drill.folder, 'secrets/redis_url'), url)
  return { tlsCaFile: path.join(home, 'ca.pem'), kill }
}

/** Six nodes. The kill ends a primary, and its replica takes over. */
async function startCluster(drill: Drill, home: string, tls: ServerTls) {
  const cluster = await startRedisCluster(home, tls)
  drill.onEnd(cluster.stop)
  const kill = async () => {
    await cluster.killOwnerOf(0)
    await cluster.untilServed(0)
  }
  return { url: cluster.url, kill }
}

/** A primary, two replicas and three Sentinels. The kill ends the primary, and a replica takes over. */
async function startSentinels(drill: Drill, home: string, tls: ServerTls) {
  const servers = await startRedisSentinels(home, tls)
  drill.onEnd(servers.stop)
  return { url: servers.url, kill: servers.killPrimary }
}

async function startOneRedis(drill: Drill, home: string, authority: ServerTls) {
  const { folder, compose, say } = drill
  const { value } = await prepareRedis(say)
  const port = await freePort()
  const tls = [`dir ${home}`, 'bind 127.0.0.1', 'port 0', ...(await redisTls(home, authority, port))]
  const script = scriptOf(serviceOf(compose, 'redis'), {
    '/run/secrets': path.join(folder, 'secrets'),
    "'dir /data'": tls.map((line) => `'${line}'`).join(' '),
  })
  const env = value.libraryPath === undefined ? {} : { LD_LIBRARY_PATH: value.libraryPath }
  const server = await startServer(
    {
      name: 'redis',
      command: '/bin/sh',
      args: ['-euc', script],
      env: envOf({ folder: path.dirname(value.command), env }),
      cwd: home,
      logFile: path.join(folder, 'logs/redis.log'),
      ready: () => accepts(port),
    },
    drill.watch,
  )
  drill.onEnd(server.stop)
  const url = (await readFile(path.join(folder, 'secrets/redis_url'), 'utf8')).trim()
  return {
    url: url.replace('redis://', 'rediss://').replace('redis:6379', `127.0.0.1:${port}`),
    kill: () => drill.kill('redis'),
  }
}

/** `mongod` where one is found, otherwise the embedded database, which has no users. */
export async function startDatabase(drill: Drill) {
  const { value: server } = await prepareMongo(drill.say)
  const port = await freePort()
  const mongo = await startMongo({ server, dataDir: drill.folder, port, watch: drill.watch })
  drill.onEnd(mongo.stop)
  await writeFile(path.join(drill.folder, 'secrets/mongodb_uri'), mongo.url)
  return nameOfMongo(server)
}

/** Passwords and keys, by the script that the compose file asks for. */
export async function makeSecrets(folder: string): Promise<void> {
  await run('/bin/sh', [path.join(root, 'deploy/compose/make-secrets.sh'), path.join(folder, 'secrets')])
}
