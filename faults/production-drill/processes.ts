import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { buildProcesses } from '../../local/build-for-next-start.ts'
import { builtInEmbeddings } from '../../local/built-in-embeddings.ts'
import { codePackages } from '../../local/code-packages.ts'
import { localCaddyfile, prepareCaddy, startCaddy } from '../../local/services/caddy.ts'
import { run } from '../../local/services/command.ts'
import { startLocalServices } from '../../local/services/index.ts'
import { freePort } from '../../local/services/ports.ts'
import type { Log } from '../../local/services/ways.ts'
import { type Supervised, supervise } from '../../local/supervise.ts'
import { waitForAnswer } from '../../local/wait-for-answer.ts'
import { currentBundle, root } from '../../scripts/process-bundle.ts'
import { startStandIns } from '../stand-ins.ts'
import { mountedFile, versionOfImage } from './compose-file.ts'
import type { Drill } from './drill.ts'
import { filesOfImage, imageEnv } from './image-env.ts'

export const apis = ['api 1', 'api 2'] as const
export const workers = ['worker 1', 'worker 2'] as const
const stopLimitMs = 60_000

/** The service's own processes, which are started as the image and the compose file say. */
export type Installation = Awaited<ReturnType<typeof startProcesses>>

export async function startProcesses(
  drill: Drill,
  { temporalAddress, redisCaFile, proxyPort }: { temporalAddress: string; redisCaFile: string; proxyPort: number },
) {
  const standIns = await startStandIns()
  drill.onEnd(standIns.close)
  const mail = await startLocalServices({ dataDir: drill.folder, env: {}, log: drill.say, need: ['mailbox'] })
  drill.onEnd(mail.stop)

  const url = `http://127.0.0.1:${proxyPort}`
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    ...(await imageEnv()),
    ...(await filesInPlace(drill.say)),
    ...composeEnv(drill),
    // The addresses of this machine in place of those of the containers' network.
    HOST: '127.0.0.1',
    METRICS_HOST: '127.0.0.1',
    DATA_DIR: path.join(drill.folder, 'data'),
    NODE_COMPILE_CACHE: path.join(drill.folder, 'compiled'),
    TRUST_PROXY: 'loopback',
    BASE_URL: url,
    TEMPORAL_ADDRESS: temporalAddress,
    REDIS_TLS_CA_FILE: redisCaFile,
    // The model and the mail server, which the compose file takes from .env.
    ...standIns.env,
    SMTP_URL: mail.env['SMTP_URL'],
    SHUTDOWN_GRACE_SECONDS: '10',
  }
  const running = new Map<string, Supervised>()
  const ports = new Map<string, string>()
  const commandOf = await entriesOfImage(drill)

  async function start(name: string): Promise<void> {
    const port = ports.get(name) ?? String(await freePort())
    ports.set(name, port)
    const ready = Promise.withResolvers<void>()
    const isApi = name.startsWith('api')
    const child = supervise(
      {
        name,
        script: () => commandOf(isApi ? 'api' : 'worker'),
        env: { ...env, PORT: port, METRICS_PORT: String(await freePort()) },
        logFile: path.join(drill.folder, `logs/${name.replace(' ', '-')}.log`),
        onLine: (line) => line.includes('"worker ready"') && ready.resolve(),
      },
      drill.watch,
    )
    running.set(name, child)
    await (isApi ? waitForAnswer(`http://127.0.0.1:${port}/ready`, [child]) : ready.promise)
  }

  drill.onEnd(() => Promise.all([...running.values()].map((child) => child.stop(stopLimitMs))))
  return {
    url,
    mailboxUrl: mail.env['MAILBOX_URL'],
    env,
    ports,
    start,
    /** The job `migrate` of the compose file. */
    migrate: () => run(process.execPath, [commandOf('migrate')], { cwd: root, env, timeoutMs: 120_000 }),
    /** Asks a process to end, as at its replacement, and starts another in its place. */
    async replace(name: string): Promise<void> {
      await running.get(name)?.stop(stopLimitMs)
      await start(name)
    },
  }
}

/** What the image has under `/app`, as `npm start` has it. */
const findFile: Record<(typeof filesOfImage)[number], (say: Log) => Promise<string>> = {
  BUILT_IN_EMBEDDINGS: builtInEmbeddings,
  CODE_PACKAGES: (say) => codePackages(process.env, say),
}

async function filesInPlace(say: Log): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const name of filesOfImage) found[name] = await findFile[name](say)
  return found
}

/** `environment` of the compose file: the same for API and worker, but for the queues. */
function composeEnv({ compose, folder }: Drill): Record<string, string> {
  const entries = Object.entries({
    ...compose.services['api']?.environment,
    ...compose.services['worker']?.environment,
  })
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value.replace('/run/secrets', path.join(folder, 'secrets'))]),
  )
}

/** Finds the script of a service's command in the bundle, which the image has in `dist`; it is built if it is not there. */
async function entriesOfImage(drill: Drill): Promise<(service: string) => string> {
  const bundle = currentBundle()
  await buildProcesses(drill.say)
  return (service) => {
    const [program, script = ''] = drill.compose.services[service]?.command ?? []
    if (program !== 'node') throw new Error(`docker-compose.yml does not start ${service} with node`)
    return path.join(bundle, path.relative('dist', script))
  }
}

/** The proxy, with the compose file's Caddyfile: its upstream is a name of the containers' network, here two addresses. */
export async function startProxy(drill: Drill, { port, upstreams }: { port: number; upstreams: string[] }) {
  const version = versionOfImage(drill.compose, 'proxy')
  const command = await prepareCaddy(version, drill.say)
  const given = await readFile(mountedFile(drill.compose, 'proxy', '/etc/caddy/Caddyfile'), 'utf8')
  const caddyfile = path.join(drill.folder, 'Caddyfile')
  await writeFile(caddyfile, localCaddyfile(given, upstreams))
  const server = await startCaddy({ command, caddyfile, folder: drill.folder, port, watch: drill.watch })
  drill.onEnd(server.stop)
  return version
}
