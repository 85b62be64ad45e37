import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Both ports of a connection between two processes of this machine. */
interface LocalConnection {
  clientPort: number
  serverPort: number
}

/** A machine with more connections than fit is not one that a single person tries things out on. */
const maxBytes = 16 * 1024 * 1024
const limitMs = 3_000

/**
 * Whether the client's end of a loopback connection belongs to the user who runs this process: only then may the client read
 * the files of `.data`, too. Other users of the machine reach the same port. False where it cannot be found out.
 */
export async function isOwnConnection(connection: LocalConnection): Promise<boolean> {
  const own = process.getuid?.()
  if (own === undefined) return false
  try {
    if (process.platform !== 'linux') return listedByLsof(await lsofOf(connection), connection, own)
    const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(readTable))
    return tables.some((table) => ownerIn(table, connection) === own)
  } catch {
    return false
  }
}

/** A machine without IPv6 has one table only. */
async function readTable(file: string): Promise<string> {
  try {
    return await readFile(file, { encoding: 'utf8', signal: AbortSignal.timeout(limitMs) })
  } catch {
    return ''
  }
}

const loopback = /^(?:[0-9A-F]{6}7F|0{24}01000000|0{16}FFFF0000[0-9A-F]{6}7F)$/

/**
 * The user id that Linux' table of connections (proc(5), `/proc/net/tcp`) has for the client's end; undefined without
 * one.
 */
export function ownerIn(table: string, { clientPort, serverPort }: LocalConnection): number | undefined {
  for (const line of table.split('\n')) {
    const [, local = '', remote = '', , , , , uid = ''] = line.trim().split(/\s+/)
    const [localAddress = '', localPort = ''] = local.split(':')
    const [remoteAddress = '', remotePort = ''] = remote.split(':')
    if (!loopback.test(localAddress) || !loopback.test(remoteAddress)) continue
    if (Number.parseInt(localPort, 16) !== clientPort || Number.parseInt(remotePort, 16) !== serverPort) continue
    if (/^\d+$/.test(uid)) return Number(uid)
  }
  return undefined
}

async function lsofOf({ clientPort }: LocalConnection): Promise<string> {
  const args = ['-nP', '-a', `-iTCP:${clientPort}`, '-sTCP:ESTABLISHED', '-Fun']
  const { stdout } = await promisify(execFile)('lsof', args, { timeout: limitMs, maxBuffer: maxBytes })
  return stdout
}

/** The same on macOS, in the fields of lsof(8): a line `u` with the user, then lines `n` with connections of the process. */
export function listedByLsof(output: string, { clientPort, serverPort }: LocalConnection, own: number): boolean {
  let user: string | undefined
  const ends = new RegExp(
    `^n(?:127\\.\\d+\\.\\d+\\.\\d+|\\[::1\\]):${clientPort}->(?:127\\.\\d+\\.\\d+\\.\\d+|\\[::1\\]):${serverPort}$`,
  )
  for (const line of output.split('\n')) {
    if (line.startsWith('u')) user = line.slice(1)
    else if (ends.test(line)) return user === String(own)
  }
  return false
}
