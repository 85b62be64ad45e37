import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { cached, installInCache } from '../cache.ts'
import { findOnPath, versionOf } from '../command.ts'
import { downloadArchive } from '../download.ts'
import type { Log } from '../ways.ts'

const version = '8.0.32'
const cacheName = `mongod-${version}`

/** Where `mongod` is on this machine; undefined when it is not. */
export async function mongodOnPath(): Promise<string | undefined> {
  const command = await findOnPath('mongod')
  if (!command) return undefined
  const found = await versionOf(command, ['--version'], /v(\d+)\.(\d+)/)
  if (!found || found[0] < 6) throw new Error(`${command} is older than 6.0`)
  return command
}

export const mongodInCache = () => inFolder(cached(cacheName))

export const mongodFromDownload = async (log: Log) =>
  inFolder(await installInCache(cacheName, log, (folder) => download(folder, log)))

/** Transactions need a replica set; one whose client died holds its records for 20 seconds, and not for a minute. */
export const mongodArgs = ({ port, home }: { port: number; home: string }) =>
  [
    ['--replSet', 'local', '--bind_ip', '127.0.0.1', '--port', String(port), '--dbpath', home],
    ['--setParameter', 'transactionLifetimeLimitSeconds=20'],
  ].flat()

const inFolder = (folder: string | undefined) => folder && path.join(folder, 'bin', 'mongod')

async function download(folder: string, log: Log): Promise<void> {
  const osRelease = await readFile('/etc/os-release', 'utf8').catch(() => '')
  const build = mongodBuild(process.platform, process.arch, osRelease)
  if (!build) throw new Error('MongoDB publishes no build for this system')
  await downloadArchive(`https://fastdl.mongodb.org/${build}-${version}.tgz`, folder, { strip: 1, log })
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
