import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { mongo } from 'mongoose'
import { cached, installInCache } from './cache.ts'
import { findOnPath, run, versionOf, withTicks } from './command.ts'
import { downloadArchive } from './download.ts'
import { exchange, freePort } from './ports.ts'
import { startServerProcess } from './server-process.ts'
import { type Log, firstThatWorks } from './ways.ts'

const mongodVersion = '8.0.32'
const mongodCache = `mongod-${mongodVersion}`

/** A MongoDB server over the WiredTiger engine, from the Python package registry; for developers and tests. */
const secantusVersion = '0.7.0b3'
const secantusCache = `secantusdb-${secantusVersion}`

type MongoServer = { kind: 'mongod' | 'secantusdb'; command: string }

/** Finds or installs a MongoDB server. */
export async function prepareMongo(log: Log) {
  return firstThatWorks<MongoServer>('MongoDB', 'MONGODB_URI', [
    { name: 'PATH', attempt: onPath },
    { name: 'cache', attempt: async () => inCache() },
    {
      name: 'official download',
      attempt: async () => mongod(await installInCache(mongodCache, log, (folder) => download(folder, log))),
    },
    {
      name: 'SecantusDB from PyPI',
      attempt: async () => secantus(await installInCache(secantusCache, log, (folder) => fromPyPi(folder, log))),
    },
  ])
}

const mongod = (folder: string): MongoServer => ({ kind: 'mongod', command: path.join(folder, 'bin', 'mongod') })
const secantus = (folder: string): MongoServer => ({
  kind: 'secantusdb',
  command: path.join(folder, 'bin', 'secantusd-py'),
})

async function onPath(): Promise<MongoServer | undefined> {
  const command = await findOnPath('mongod')
  if (!command) return undefined
  const found = await versionOf(command, ['--version'], /v(\d+)\.(\d+)/)
  if (!found || found[0] < 6) throw new Error(`${command} is older than 6.0`)
  return { kind: 'mongod', command }
}

function inCache(): MongoServer | undefined {
  const official = cached(mongodCache)
  if (official) return mongod(official)
  const fallback = cached(secantusCache)
  return fallback ? secantus(fallback) : undefined
}

async function download(folder: string, log: Log): Promise<void> {
  const osRelease = await readFile('/etc/os-release', 'utf8').catch(() => '')
  const build = mongodBuild(process.platform, process.arch, osRelease)
  if (!build) throw new Error('MongoDB publishes no build for this system')
  await downloadArchive(`https://fastdl.mongodb.org/${build}-${mongodVersion}.tgz`, folder, { strip: 1, log })
}

/** The name of MongoDB's archive for a system, without version; undefined where there is none. */
export function mongodBuild(platform: NodeJS.Platform, arch: string, osRelease: string): string | undefined {
  if (platform === 'darwin') return `osx/mongodb-macos-${arch === 'arm64' ? 'arm64' : 'x86_64'}`
  if (platform !== 'linux' || (arch !== 'x64' && arch !== 'arm64')) return undefined
  const field = (name: string) => new RegExp(`^${name}="?([^"\n]*)`, 'm').exec(osRelease)?.[1] ?? ''
  const system = `${field('ID')} ${field('ID_LIKE')}`
  const major = Number.parseInt(field('VERSION_ID'), 10)
  const distribution = () => {
    if (system.startsWith('ubuntu')) return major >= 24 ? 'ubuntu2404' : 'ubuntu2204'
    // There is no Debian build for arm64; Ubuntu's of the same age has the same libraries.
    if (system.startsWith('debian')) return arch === 'arm64' ? 'ubuntu2204' : 'debian12'
    if (system.startsWith('amzn')) return 'amazon2023'
    if (/rhel|fedora|centos/.test(system)) return major === 8 ? 'rhel8' : 'rhel9'
    if (/ubuntu|debian/.test(system)) return 'ubuntu2204'
    return undefined
  }
  const name = distribution()
  return name && `linux/mongodb-linux-${arch === 'arm64' ? 'aarch64' : 'x86_64'}-${name}`
}

async function fromPyPi(folder: string, log: Log): Promise<void> {
  const python = (await findOnPath('python3')) ?? (await findOnPath('python'))
  if (!python) throw new Error('no python3 on PATH')
  log(`installing SecantusDB ${secantusVersion} from PyPI`)
  await run(python, ['-m', 'venv', folder])
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `SecantusDB==${secantusVersion}`]
  await withTicks(run(path.join(folder, 'bin', 'python'), pip), (seconds) =>
    log(`still installing SecantusDB (${seconds} s)`),
  )
}

/** Starts a single-node replica set (transactions need one) on its folder in `dataDir`. `url` names the database `assistants`. */
export async function startMongo(options: { server: MongoServer; dataDir: string; port?: number }) {
  const port = options.port ?? (await freePort())
  // A folder for each kind: their files look alike, and neither may open the other's.
  const home = path.join(options.dataDir, options.server.kind)
  const direct = `mongodb://127.0.0.1:${port}/assistants?directConnection=true`
  const args = {
    mongod: ['--replSet', 'local', '--bind_ip', '127.0.0.1', '--port', String(port), '--dbpath', home],
    secantusdb: ['--host', '127.0.0.1', '--port', String(port), '--storage-path', home],
  }[options.server.kind]
  const server = await startServerProcess({
    name: 'MongoDB',
    command: options.server.command,
    args,
    cwd: home,
    logFile: path.join(options.dataDir, 'logs', 'mongodb.log'),
    ready: async () => (await isListening(port)) && (await isWritable(direct, port)),
  })
  return { ...server, url: direct }
}

/** A listening server says nothing to an empty request but keeps the connection; a closed port refuses it. */
async function isListening(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const answer = setTimeout(() => resolve(true), 100)
  void exchange(port, '').then(() => resolve(false))
  return promise.finally(() => clearTimeout(answer))
}

/** Whether there is a primary. A new mongod is told to become one. */
async function isWritable(url: string, port: number): Promise<boolean> {
  const client = new mongo.MongoClient(url, { serverSelectionTimeoutMS: 2_000 })
  try {
    const admin = client.db('admin')
    const hello = await admin.command({ hello: 1 })
    if (hello.isWritablePrimary === true) return true
    if (hello.setName === undefined) {
      const config = { _id: 'local', members: [{ _id: 0, host: `127.0.0.1:${port}` }] }
      await admin.command({ replSetInitiate: config })
    }
    return false
  } catch {
    return false
  } finally {
    await client.close()
  }
}
