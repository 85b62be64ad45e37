import type { Watch } from './keep-running.ts'
import { prepareMailbox, startMailbox } from './mailbox.ts'
import { prepareMongo, startMongo } from './mongo/index.ts'
import { prepareRedis, startRedis } from './redis.ts'
import { prepareTemporal, startTemporal } from './temporal.ts'
import { type Log, LocalServiceError, reason } from './ways.ts'

export { LocalServiceError } from './ways.ts'
export { prepareBrowser } from './browser.ts'
export { prepareTimeSkippingServer } from './time-skipping.ts'

export type ServiceName = 'temporal' | 'mongo' | 'redis' | 'mailbox'

/** The result of starting a service: the variables that it sets, and one line for people. */
type Started = { env: Record<string, string>; name: string; detail: string; source: string; stop: () => Promise<void> }

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
export async function startLocalServices(options: StartOptions & { need?: ServiceName[] }) {
  const needed = options.need ?? ['temporal', 'mongo', 'redis', 'mailbox']
  const results = await Promise.allSettled(needed.map((name) => startOne(name, options)))
  const started = results.filter((result) => result.status === 'fulfilled').map((result) => result.value)
  const stop = async () => {
    await Promise.all(started.map((service) => service.stop()))
  }
  const failures = results.filter((result) => result.status === 'rejected').map((result) => reason(result.reason))
  if (failures.length > 0) {
    await stop()
    throw new LocalServiceError(failures.join('\n'))
  }
  return {
    env: Object.fromEntries(started.flatMap((service) => Object.entries(service.env))),
    services: started.map(({ name, detail, source }) => ({ name, detail, source })),
    stop,
  }
}

async function startOne(name: ServiceName, options: StartOptions): Promise<Started> {
  const variable = addressVariable[name]
  if (options.env[variable])
    return { env: {}, name, detail: `at the address in ${variable}`, source: variable, stop: async () => {} }
  return starters[name](options)
}

const starters: Record<ServiceName, (options: StartOptions) => Promise<Started>> = {
  async temporal({ dataDir, env, log, codecEndpoint, watch, dynamicConfig }) {
    const { value: executable, source } = await prepareTemporal(log)
    const namespace = env.TEMPORAL_NAMESPACE || undefined
    const { address, uiUrl, stop } = await startTemporal({
      executable,
      dataDir,
      namespace,
      codecEndpoint,
      watch,
      dynamicConfig,
    })
    const detail = `${address}, Web UI ${uiUrl}`
    return { env: { TEMPORAL_ADDRESS: address, TEMPORAL_UI_URL: uiUrl }, name: 'Temporal', detail, source, stop }
  },
  async mongo({ dataDir, log, watch }) {
    const { value: server, source } = await prepareMongo(log)
    const { url, stop } = await startMongo({ server, dataDir, watch })
    return { env: { MONGODB_URI: url }, name: 'MongoDB', detail: url, source, stop }
  },
  async redis({ dataDir, log, watch }) {
    const { value: server, source } = await prepareRedis(log)
    const { url, stop } = await startRedis({ server, dataDir, watch })
    return { env: { REDIS_URL: url }, name: 'Redis', detail: url, source, stop }
  },
  async mailbox({ dataDir, watch }) {
    const { value: script, source } = await prepareMailbox()
    const { url, smtpUrl, stop } = await startMailbox({ script, dataDir, watch })
    return {
      env: { SMTP_URL: smtpUrl, MAILBOX_URL: url },
      name: 'Mailbox',
      detail: `${smtpUrl}, page ${url}`,
      source,
      stop,
    }
  },
}
