import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { findOnPath, versionOf } from '../command.ts'
import { downloadArchive } from '../download.ts'
import type { Log } from '../ways.ts'

const version = '8.0.32'
export const mongodCacheName = `mongod-${version}`

/** The SHA-256 of the archives of this version. */
export const mongodArchives: Record<string, string> = {
  'linux/mongodb-linux-x86_64-ubuntu2204': '41da8d92dde2896ebda278cf296ae86462da6b39eda81ce6ce4fb9ce819adb2e',
  'linux/mongodb-linux-aarch64-ubuntu2204': '7411bc9efef53346a26e67241ca9db9926c30b7a056e2515068223b497682c81',
  'linux/mongodb-linux-x86_64-ubuntu2404': 'b411be17c31ef249767ed91974d876e007c91afd5f45e1534057d247eada9f0d',
  'linux/mongodb-linux-aarch64-ubuntu2404': '8cca3993520a7f189790264ee57fb5d55a91094fb4be5f06bbbaf67c974d273f',
  'linux/mongodb-linux-x86_64-debian12': 'b61cda162c6592347b7503c683145304f74c900b1c10a395520c7c24d3f8445c',
  'linux/mongodb-linux-x86_64-rhel8': '0c582aa72b45fb74e15c47f4d13d329a506ae5b7ceef65362fa11b40826da0aa',
  'linux/mongodb-linux-aarch64-rhel8': 'a7ff6ade9efb7c0566a4b2f3bc828a245729c1a0553c311d992f3564fab3f5bf',
  'linux/mongodb-linux-x86_64-rhel93': '91d7f9fd463d3b91359528bcce8d8c2c30ff6aa90f1f58480e225d70a7057566',
  'linux/mongodb-linux-aarch64-rhel93': '76e77cf57421604d3f302078e73d37523d067716f587c6c634ed94adbc8540d0',
  'linux/mongodb-linux-x86_64-rhel10': 'dd14cbda4cbdee634d459f88c1cb8e4120f7591495b9334d29e30d35730ba718',
  'linux/mongodb-linux-aarch64-rhel10': 'fca3f0670838e46859f54d800fd8f81dd21ab031852f1bd15a81dbce52bf64de',
  'linux/mongodb-linux-x86_64-amazon2023': '6c2a714294985566a21cb9b97dd7422a0d46e43affca95d2d1dc303f0e60515e',
  'linux/mongodb-linux-aarch64-amazon2023': 'b55cd433aa3c3ea43b9545d3625e52068e25f18eea7ba156b12d97b28d4fc4f9',
  'osx/mongodb-macos-x86_64': '4073d96f1a83ecae289997cb1f9ace5258a740fdb9b8b06ee00098ec342d1bce',
  'osx/mongodb-macos-arm64': 'f81cb258434d548dca7244d599c82eb339043d8dedd0b1b807870c9d263117f2',
}

/** Where `mongod` is on this machine; undefined when it is not. */
export async function mongodOnPath(): Promise<string | undefined> {
  const command = await findOnPath('mongod')
  if (!command) return undefined
  const found = await versionOf(command, ['--version'], /v(\d+)\.(\d+)/)
  if (!found || found[0] < 6) throw new Error(`${command} is older than 6.0`)
  return command
}

/** Transactions need a replica set; one whose client died holds its records for 20 seconds, and not for a minute. */
export const mongodArgs = ({ port, home }: { port: number; home: string }) =>
  [
    ['--replSet', 'local', '--bind_ip', '127.0.0.1', '--port', String(port), '--dbpath', home],
    ['--setParameter', 'transactionLifetimeLimitSeconds=20'],
  ].flat()

export const mongodInFolder = (folder: string) => path.join(folder, 'bin', 'mongod')

export async function downloadMongod(folder: string, log: Log): Promise<void> {
  const osRelease = await readFile('/etc/os-release', 'utf8').catch(() => '')
  const build = mongodBuild(process.platform, process.arch, osRelease)
  if (!build) throw new Error('MongoDB publishes no build for this system')
  const url = `https://fastdl.mongodb.org/${build}-${version}.tgz`
  await downloadArchive(url, folder, { sha256: mongodArchives[build], strip: 1, log })
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
    if (/rhel|fedora|centos/.test(system)) return major === 8 ? 'rhel8' : major === 9 ? 'rhel93' : 'rhel10'
    if (/ubuntu|debian/.test(system)) return 'ubuntu2204'
    return undefined
  }
  const name = distribution()
  return name && `linux/mongodb-linux-${arch === 'arm64' ? 'aarch64' : 'x86_64'}-${name}`
}
