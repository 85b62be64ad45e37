import { availableParallelism } from 'node:os'
import path from 'node:path'
import { searchAttributeNames } from '../../domain/contracts/search-attribute-names.ts'
import { parseOwnJson } from '../../domain/json.ts'
import { waysByCache } from './cache.ts'
import { findOnPath, versionOf } from './command.ts'
import { downloadArchive } from './download.ts'
import { goInstall } from './go-install.ts'
import { httpAnswer } from './http-answer.ts'
import type { Watch } from './keep-running.ts'
import { freePort } from './ports.ts'
import { startServer } from './server-process.ts'
import { type Log, firstThatWorks } from './ways.ts'

const version = '1.5.1'
const cacheName = `temporal-${version}`

const program = {
  module: 'github.com/temporalio/cli',
  version,
  sum: 'h1:0RZMk14BWxz44Xg6ciDQvpfAMffoG3J7/K03ql80teY=',
  folder: './cmd/temporal',
}

/** The SHA-256 of the released archives. */
const archives: Record<string, string> = {
  linux_amd64: 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
  linux_arm64: 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
  darwin_amd64: 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
  darwin_arm64: 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
}

/**
 * Measured: the default dev server adds about 50 ms to every task (20 polls a second on its one shard), and its
 * four partitions of each task queue cause stalls of two seconds. Eager execution returns an activity (a tool of a
 * run) to the worker that scheduled it, together with the answer to its workflow task. Lists of workflows are
 * written once a second: a workflow that has ended by then is written once instead of twice, which saves a fifth of
 * the server's processor time of a run.
 */
const tuning = [
  // Waiting tasks of many users are given out in turn.
  ['--dynamic-config-value', 'matching.enableFairness=true'],
  ['--dynamic-config-value', 'history.transferProcessorMaxPollRPS=5000'],
  ['--dynamic-config-value', 'matching.numTaskqueueReadPartitions=1'],
  ['--dynamic-config-value', 'matching.numTaskqueueWritePartitions=1'],
  ['--dynamic-config-value', 'system.enableActivityEagerExecution=true'],
  ['--dynamic-config-value', 'history.visibilityProcessorMaxPollRPS=1'],
  ['--dynamic-config-value', 'history.visibilityTaskBatchSize=1000'],
  ['--sqlite-pragma', 'journal_mode=WAL'],
  ['--sqlite-pragma', 'synchronous=NORMAL'],
].flat()

/**
 * Finds or installs the Temporal command, whose dev server serves the API and the Web UI. It needs no npm package:
 * `local/install-temporal.ts` calls it beside the installation of the packages.
 */
export async function prepareTemporal(log: Log) {
  return firstThatWorks<string>('Temporal', 'TEMPORAL_ADDRESS', [
    { name: 'PATH', attempt: onPath },
    ...waysByCache(cacheName, log, inFolder, [
      { name: 'official download', install: (folder) => download(folder, log) },
      { name: 'built with Go', install: (folder) => goInstall(program, folder, log) },
    ]),
  ])
}

async function onPath(): Promise<string | undefined> {
  const command = await findOnPath('temporal')
  if (!command) return undefined
  const found = await versionOf(command, ['--version'], /Server (\d+)\.(\d+)/)
  if (!found || found[0] < 1 || found[1] < 24) throw new Error(`${command} is older than server 1.24`)
  return command
}

const inFolder = (folder: string) => path.join(folder, 'temporal')

async function download(folder: string, log: Log): Promise<void> {
  const platform = process.platform === 'darwin' ? 'darwin' : 'linux'
  const arch = process.arch === 'arm64' ? 'arm64' : 'amd64'
  const system = `${platform}_${arch}`
  const url = `https://github.com/temporalio/cli/releases/download/v${version}/temporal_cli_${version}_${system}.tar.gz`
  await downloadArchive(url, folder, { sha256: archives[system], strip: 0, log })
}

/** Where the server is: `address` is host:port for gRPC, `uiUrl` the page for operators. */
export const temporalAddresses = ({ port, uiPort }: { port: number; uiPort: number }) => ({
  address: `127.0.0.1:${port}`,
  uiUrl: `http://127.0.0.1:${uiPort}`,
})

/** Starts the dev server on its file in `dataDir`. */
export async function startTemporal(options: {
  executable: string
  dataDir: string
  port?: number
  uiPort?: number
  namespace?: string
  /** Address of the codec endpoint for the Web UI. */
  codecEndpoint?: string
  /** Additional dynamic configuration of the server, such as lower limits in tests. */
  dynamicConfig?: Record<string, string | number>
  watch?: Watch
  startSignal?: AbortSignal
}) {
  const port = options.port ?? (await freePort())
  const uiPort = options.uiPort ?? (await freePort())
  const namespace = options.namespace ?? 'default'
  const { address, uiUrl } = temporalAddresses({ port, uiPort })
  const home = path.join(options.dataDir, 'temporal')
  const server = await startServer(
    {
      name: 'Temporal',
      command: options.executable,
      args: [
        ['server', 'start-dev', '--log-level', 'warn', '--ip', '127.0.0.1', '--port', String(port)],
        ['--ui-port', String(uiPort), '--db-filename', path.join(home, 'temporal.sqlite'), '--namespace', namespace],
        searchAttributeNames.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
        options.codecEndpoint ? ['--ui-codec-endpoint', options.codecEndpoint] : [],
        tuning,
        Object.entries(options.dynamicConfig ?? {}).flatMap(([name, value]) => [
          '--dynamic-config-value',
          `${name}=${value}`,
        ]),
      ].flat(),
      // With all processors, the server's scheduler looks for work on those that the service needs: on two, each run
      // cost 17 % more of the server's processor time.
      env: { GOMAXPROCS: String(Math.ceil(availableParallelism() / 2)), ...process.env },
      cwd: home,
      logFile: path.join(options.dataDir, 'logs', 'temporal.log'),
      ready: () => isServing(uiUrl, namespace),
    },
    options.watch,
    options.startSignal,
  )
  return { ...server, address, uiUrl }
}

/** Asked through the Web UI. The port opens before the namespace and its search attributes exist. */
async function isServing(uiUrl: string, namespace: string): Promise<boolean> {
  const url = `${uiUrl}/api/v1/namespaces/${encodeURIComponent(namespace)}/search-attributes`
  const answer = await httpAnswer(url, 2_000)
  if (answer === undefined) return false
  const { customAttributes = {} }: { customAttributes?: object } = parseOwnJson(answer)
  return searchAttributeNames.every((name) => name in customAttributes)
}
