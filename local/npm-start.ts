import { existsSync } from 'node:fs'
import path from 'node:path'
import { loadSettings } from '../infra/config.ts'
import { foundServersText } from '../infra/model/found-servers.ts'
import { codecTokenOf } from '../infra/temporal/codec-token.ts'
import { scriptOf } from '../scripts/process-bundle.ts'
import { createAddresses } from './addresses.ts'
import { banner } from './banner.ts'
import { buildConsole } from './build-console.ts'
import { buildProcesses } from './build-for-next-start.ts'
import { builtInEmbeddings, wantsBuiltInEmbeddings } from './built-in-embeddings.ts'
import { codePackages, wantsCodePackages } from './code-packages.ts'
import { finishSwap } from './data-backup/swap.ts'
import { takeDataDir } from './data-dir.ts'
import { demoModelEnv, wantsDemoModel } from './demo-model-settings.ts'
import { keepBundles } from './keep-bundles.ts'
import { readableLine } from './log-lines.ts'
import { findModelServers, wantsDiscovery } from './model-discovery.ts'
import { ensureSecrets } from './secrets.ts'
import { LocalServiceError, prepareLocalServices } from './services/index.ts'
import { freePort } from './services/ports.ts'
import { createShutdown } from './shutdown.ts'
import { steadyMemory } from './steady-memory.ts'
import { supervise } from './supervise.ts'
import { requireFreePort, waitForAnswer } from './wait-for-answer.ts'

const startedAt = Date.now()
const say = (line: string) => console.log(line)
const shutdown = createShutdown(say)

try {
  await start()
} catch (error) {
  // Errors that a developer can fix show their message, unexpected ones their stack.
  const isKnown = error instanceof LocalServiceError || (error instanceof Error && error.name === 'SettingsError')
  console.error(isKnown ? error.message : error)
  await shutdown.stop(1)
}

/** `npm start`: servers, demo model, API, worker, and then the addresses. Everything is stopped in reverse order. */
async function start(): Promise<void> {
  process.chdir(path.dirname(import.meta.dirname))
  if (existsSync('.env')) process.loadEnvFile('.env')
  // An empty variable counts as not set, as in the settings.
  const given = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value?.trim()))
  const dataDir = path.resolve(given.DATA_DIR ?? '.data')
  // Otherwise open streams would make Ctrl-C wait for half a minute, the default for production.
  const base: NodeJS.ProcessEnv = { SHUTDOWN_GRACE_SECONDS: '5', ...given, DATA_DIR: dataDir }
  finishSwap(dataDir)
  const env: NodeJS.ProcessEnv = { ...base, ...ensureSecrets(dataDir, base) }
  const settings = loadSettings(env)
  const port = await requireFreePort(settings)
  const looking = wantsDiscovery(env) ? findModelServers(env, port) : Promise.resolve([])

  shutdown.add('the data folder', takeDataDir(dataDir))
  const addresses = createAddresses(dataDir)
  // Those of a start that was killed.
  addresses.remove()
  const codecToken = codecTokenOf(settings)
  const codecEndpoint = codecToken && `http://127.0.0.1:${port}/codec/${codecToken}`
  const consoleBuilt = buildConsole(say)
  const watch = { say, onStart: addresses.noteProcess }
  const embeddings = wantsBuiltInEmbeddings(env) ? builtInEmbeddings(say) : undefined
  const packages = wantsCodePackages(env) ? codePackages(env, say) : undefined
  const local = await prepareLocalServices({ dataDir, env, log: (line) => say(`> ${line}`), codecEndpoint, watch })
  shutdown.add('the servers', local.stop)

  const used = keepBundles()
  used(process.argv[1] ?? '')
  const workerReady = Promise.withResolvers<void>()
  const run = (
    name: string,
    script: () => string,
    childEnv: NodeJS.ProcessEnv,
    options: { stopLimitMs: number; goAheadAfter?: Promise<void> },
  ) => {
    const onLine = (line: string) => {
      if (line.includes('"worker ready"')) workerReady.resolve()
      const readable = readableLine(name, line)
      if (readable) console.error(readable)
    }
    const env = { ...steadyMemory, ...childEnv }
    const logFile = path.join(dataDir, 'logs', `${name.replace(' ', '-')}.log`)
    const child = supervise(
      { name, script: () => used(script()), env, logFile, onLine, goAheadAfter: options.goAheadAfter },
      watch,
    )
    shutdown.add(`the ${name}`, () => child.stop(options.stopLimitMs))
    return child
  }

  const uiOrigins = { TEMPORAL_UI_ORIGINS: local.env.TEMPORAL_UI_URL }
  const serviceEnv: NodeJS.ProcessEnv = {
    ...uiOrigins,
    ...env,
    ...local.env,
    PORT: String(port),
    RUNS_IN_API: env['RUNS_IN_API'] || 'true',
    LOCAL_PAGE: env['LOCAL_PAGE'] || 'true',
  }
  const isDemo = wantsDemoModel(env)
  const demoPort = Number(env.DEMO_MODEL_PORT) || (await freePort())
  if (isDemo) Object.assign(serviceEnv, demoModelEnv(demoPort, env))
  if (embeddings !== undefined) serviceEnv['BUILT_IN_EMBEDDINGS'] = await embeddings
  if (packages !== undefined) serviceEnv['CODE_PACKAGES'] = await packages
  const found = await looking
  if (found.length > 0) serviceEnv.MODEL_SERVERS_FOUND = foundServersText(found)
  const stopLimitMs = settings.shutdownGraceSeconds * 1000 + 5_000
  // It loads its code while the servers start.
  const serversReady = Promise.withResolvers<void>()
  const goAheadAfter = serversReady.promise
  const api = run('api', () => scriptOf('local-api'), serviceEnv, { stopLimitMs, goAheadAfter })
  await Promise.all([local.start(), consoleBuilt])
  serversReady.resolve()
  for (const service of local.services) say(`> ${service.name}: ${service.detail} (${service.source})`)
  const answers = [waitForAnswer(`http://127.0.0.1:${port}/ready`, [api])]
  if (isDemo) {
    const demoEnv = { ...env, DEMO_MODEL_PORT: String(demoPort) }
    const demo = run('demo model', () => scriptOf('demo-model'), demoEnv, { stopLimitMs: 2_000 })
    answers.push(waitForAnswer(`http://127.0.0.1:${demoPort}/v1/models`, [demo]))
  }
  await Promise.all(answers)
  shutdown.add('the list of addresses', addresses.remove)
  addresses.publish({ port, env: serviceEnv })
  say(banner({ port, env: serviceEnv, dataDir, isDemo, found, seconds: (Date.now() - startedAt) / 1000 }))
  // Started after the API, whose start it would slow down. Work of the first seconds waits in its queues.
  run('worker', () => scriptOf('worker'), serviceEnv, { stopLimitMs })
  // Built last, because it is for the next start: this one does not wait for it.
  await workerReady.promise
  await buildProcesses(say)
}
