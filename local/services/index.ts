import type { Watch } from './keep-running.ts'
import { prepareMailbox, startMailbox } from './mailbox.ts'
import { mongoUrl, prepareMongo, startMongo } from './mongo/index.ts'
import { freePort } from './ports.ts'
import { prepareRedis, redisUrl, startRedis } from './redis.ts'
import { prepareTemporal, startTemporal, temporalAddresses } from './temporal.ts'
import { type Log, LocalServiceError, reason } from './ways.ts'

export { LocalServiceError } from './ways.ts'
export { prepareBrowser } from './browser.ts'
export { prepareTimeSkippingServer } from './time-skipping.ts'

export type ServiceName = 'temporal' | 'mongo' | 'redis' | 'mailbox'

/** A service that was found or installed: the variables that it sets, and one line for people. */
type Found = {
  env: Record<string, string>
  name: string
  detail: string
  source: string
  /** Resolves when it answers. */
  start: (startSignal: AbortSignal) => Promise<{ stop: () => Promise<void> }>
}

type StartOptions = {
  dataDir: string
  env: NodeJS.ProcessEnv
  log: Log
  /** Address of the codec endpoint for the Temporal UI. */
  codecEndpoint?: string
  /** With it, a server that exits is started again. */
  watch?: Watch
  /** Dynamic configuration of the Temporal server. */
  dynamicConfig?: Record<string, string>
}

type ServiceOptions = StartOptions & { need?: ServiceName[] }

/** The variable that names an existing server; if it is set, nothing is started. */
const addressVariable = {
  temporal: 'TEMPORAL_ADDRESS',
  mongo: 'MONGODB_URI',
  redis: 'REDIS_URL',
  mailbox: 'SMTP_URL',
} satisfies Record<ServiceName, string>

/**
 * Finds, installs if needed, and starts the servers that the service needs, in parallel. `env` in the result
 * contains the variables for the service (`MONGODB_URI`, `REDIS_URL`, `TEMPORAL_ADDRESS`, `SMTP_URL`) and for
 * people (`MAILBOX_URL`, `TEMPORAL_UI_URL`). If one cannot be started, the others are stopped again, and the error
 * lists every failure.
 */
export async function startLocalServices(options: ServiceOptions) {
  const local = await prepareLocalServices(options)
  await local.start()
  return local
}

/** The same in two steps: their addresses are known before they start. `stop` may be called at any time. */
export async function prepareLocalServices(options: ServiceOptions) {
  const needed = options.need ?? ['temporal', 'mongo', 'redis', 'mailbox']
  const chooseAddresses = await allOf(needed.map((name) => findOne(name, options)))
  // Not before all are found: that can take minutes, in which other programs take ports.
  const found = await allOf(chooseAddresses.map((choose) => choose()))
  const stopping = new AbortController()
  const starting: ReturnType<Found['start']>[] = []
  const stop = async () => {
    stopping.abort()
    const started = await Promise.allSettled(starting)
    await Promise.all(started.filter((result) => result.status === 'fulfilled').map(({ value }) => value.stop()))
  }
  return {
    env: Object.fromEntries(found.flatMap((service) => Object.entries(service.env))),
    services: found.map(({ name, detail, source }) => ({ name, detail, source })),
    /** Resolves when all answer. */
    async start(): Promise<void> {
      starting.push(...found.map((service) => service.start(stopping.signal)))
      await allOf(starting).catch(async (error: unknown) => {
        await stop()
        throw error
      })
    },
    stop,
  }
}

/** Waits for all of them; the error lists every failure. */
async function allOf<T>(work: Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(work)
  const failures = results.filter((result) => result.status === 'rejected').map((result) => reason(result.reason))
  if (failures.length > 0) throw new LocalServiceError(failures.join('\n'))
  return results.filter((result) => result.status === 'fulfilled').map((result) => result.value)
}

/** Chooses where a service listens that is found or installed already. */
type ChooseAddress = () => Promise<Found>

async function findOne(name: ServiceName, options: StartOptions): Promise<ChooseAddress> {
  const variable = addressVariable[name]
  if (!options.env[variable]) return finders[name](options)
  const start = async () => ({ stop: async () => {} })
  return async () => ({ env: {}, name, detail: `at the address in ${variable}`, source: variable, start })
}

const finders: Record<ServiceName, (options: StartOptions) => Promise<ChooseAddress>> = {
  async temporal({ dataDir, env, log, codecEndpoint, watch, dynamicConfig }) {
    const { value: executable, source } = await prepareTemporal(log)
    return async () => {
      const namespace = env.TEMPORAL_NAMESPACE || undefined
      const ports = { port: await freePort(), uiPort: await freePort() }
      const { address, uiUrl } = temporalAddresses(ports)
      return {
        env: { TEMPORAL_ADDRESS: address, TEMPORAL_UI_URL: uiUrl },
        name: 'Temporal',
        detail: `${address}, Web UI ${uiUrl}`,
        source,
        start: (startSignal) =>
          startTemporal({ executable, dataDir, ...ports, namespace, codecEndpoint, watch, dynamicConfig, startSignal }),
      }
    }
  },
  async mongo({ dataDir, log, watch }) {
    const { value: server, source } = await prepareMongo(log)
    return async () => {
      const port = await freePort()
      const url = mongoUrl(server, port)
      return {
        env: { MONGODB_URI: url },
        name: 'MongoDB',
        detail: url,
        source,
        start: (startSignal) => startMongo({ server, dataDir, port, watch, startSignal }),
      }
    }
  },
  async redis({ dataDir, log, watch }) {
    const { value: server, source } = await prepareRedis(log)
    return async () => {
      const port = await freePort()
      const url = redisUrl(port)
      return {
        env: { REDIS_URL: url },
        name: 'Redis',
        detail: url,
        source,
        start: (startSignal) => startRedis({ server, dataDir, port, watch, startSignal }),
      }
    }
  },
  async mailbox({ dataDir, watch }) {
    const { value: script, source } = await prepareMailbox()
    return async () => {
      const ports = { port: await freePort(), webPort: await freePort() }
      const smtpUrl = `smtp://127.0.0.1:${ports.port}`
      const url = `http://127.0.0.1:${ports.webPort}`
      return {
        env: { SMTP_URL: smtpUrl, MAILBOX_URL: url },
        name: 'Mailbox',
        detail: `${smtpUrl}, page ${url}`,
        source,
        start: (startSignal) => startMailbox({ script, dataDir, ...ports, watch, startSignal }),
      }
    }
  },
}
