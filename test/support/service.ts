import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { startApi } from '../../api/start-api.ts'
import { migrate } from '../../composition/migrations.ts'
import { type Settings, loadSettings } from '../../infra/config.ts'
import { createLogger } from '../../infra/logger.ts'
import auditTexts from '../../web/src/texts/en/audit.json' with { type: 'json' }
import { startWorker } from '../../worker/start-worker.ts'
import { reusedWorkers } from './reused-workers.ts'
import { watchShardKeys } from './shard-keys.ts'

export interface ServiceOptions {
  /** Variables beside those that every test service gets. */
  env?: Record<string, string>
  /** In place of what comes of the environment, such as limits that no variable changes. */
  settings?: Partial<Settings>
  /** Without it no worker is started. */
  worker?: boolean
  /** Gets every log line, in place of the standard output. */
  onLog?: (line: string) => void
}

/**
 * With a worker in this process none is killed, so a task that takes longer on a busy machine is not given to another
 * one, which would ask the model a second time.
 */
const keptTasks = { runTaskTimeoutSeconds: 20 }

/** The environment of a service of its own on the shared servers: own database, own task queues, free port. */
export function serviceEnv(env: Record<string, string> = {}): Record<string, string> {
  const services = inject('services')
  const unique = randomBytes(6).toString('hex')
  return {
    PORT: '0',
    HOST: '127.0.0.1',
    REDIS_URL: services.redisUrl,
    TEMPORAL_ADDRESS: services.temporalAddress,
    SMTP_URL: services.smtpUrl,
    TASK_QUEUE_PREFIX: `${unique}-`,
    SECRETS_KEY: randomBytes(32).toString('base64'),
    JWT_SECRET: randomBytes(32).toString('hex'),
    ADMIN_TOKEN: `admin-${randomBytes(16).toString('hex')}`,
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent',
    SHUTDOWN_GRACE_SECONDS: '1',
    // A busy machine answers late; tests of servers that are away set what counts outside.
    DEPENDENCY_TIMEOUT_SECONDS: '15',
    DELETION_WAIT_SECONDS: '120',
    DATA_DIR: join(tmpdir(), `assistant-${unique}`),
    ...env,
    MONGODB_URI: withOwnDatabase(env['MONGODB_URI'] ?? services.mongodbUri, `test_${unique}`),
  }
}

/** The services of a process share workflow threads, which end with it. */
const { classFor: workerClass } = reusedWorkers()

/** API and worker in this process, on real servers. Answers are checked against their declared statuses and schemas. */
export async function startService({ env, settings: changed, worker = true, onLog }: ServiceOptions = {}) {
  const environment = serviceEnv(env)
  const settings = { ...loadSettings(environment), ...(worker ? keptTasks : {}), ...changed }
  const logger = createLogger('test', settings.logLevel, onLog && { write: onLog })
  await migrate(settings, logger)
  const problems = new Set<string>()
  const noteProblem = (problem: string) => problems.add(problem)
  const api = await startApi({ ...settings, noteProblem }, logger, { workerClass })
  await api.servesRuns
  const [redis] = api.infra.redis.primaries()
  if (redis === undefined) throw new Error('the service has no Redis server')
  const running = worker ? await startWorker(settings, logger, { workerClass }) : undefined
  const databases = [api, running].flatMap((part) => (part ? [part.platform.infra.database.connection] : []))
  const shardKeys = watchShardKeys(databases)
  return {
    env: environment,
    settings,
    noteProblem,
    url: api.address,
    api,
    worker: running,
    collections: api.infra.database.collections,
    temporal: api.infra.temporal.client,
    /** Of a cluster, one of the primaries. */
    redis,
    /** The database connections of API and worker. */
    databases,
    /** Throws when the product has asked every shard in a way that `test/support/shard-keys.ts` does not list. */
    checkShardKeys: shardKeys.check,
    close: async () => {
      await Promise.all([api.app.close(), running?.close()])
      for (const action of await api.infra.database.collections.auditEntries.distinct('action'))
        if (!(action in auditTexts.sentences)) noteProblem(`the console has no sentence for the audited ${action}`)
      await api.infra.database.connection.dropDatabase()
      await api.close()
      await rm(settings.dataDir, { recursive: true, force: true })
      shardKeys.check()
      if (problems.size > 0) throw new Error([...problems].join('\n'))
    },
  }
}

export type TestService = Awaited<ReturnType<typeof startService>>

/** What helpers need: a service that they do not end. */
export type RunningService = Omit<TestService, 'close'>

/** An address of the shared server, also by way of a proxy, names a database that all would share and drop. */
function withOwnDatabase(uri: string, database: string): string {
  const url = URL.parse(uri)
  if (url?.pathname !== new URL(inject('services').mongodbUri).pathname) return uri
  url.pathname = `/${database}`
  // Tests listen to what the database is asked.
  url.searchParams.set('monitorCommands', 'true')
  return url.toString()
}
