import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, chown, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { constants, setPriority, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const lockdown = new URL('./child/lockdown.ts', import.meta.url)
const probe = fileURLToPath(new URL('./child/probe.ts', import.meta.url))

const dataPackages = ['@hyzyla/pdfium', 'tesseract.js-core', '@tesseract.js-data']
/** What a reader can read besides its own folder: its bundle and what its libraries load, or its sources and all packages. */
const code = probe.endsWith('.ts')
  ? ['../../node_modules', '../../domain', '.', '../lines.ts', '../../package.json'].map(pathOf)
  : [dirname(probe), ...dataPackages.map((name) => pathOf(`../../node_modules/${name}`))]

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url))
}

/**
 * The confinement that the operating system adds to Node's permission model: an empty network namespace, and a user
 * id that owns nothing.
 */
export interface Confinement {
  network: boolean
  user: boolean
}

export function describeConfinement({ network, user }: Confinement): string {
  const parts = ['permission model', ...(network ? ['network namespace'] : []), ...(user ? ['user id of its own'] : [])]
  return parts.join(', ')
}

const isRoot = () => process.getuid?.() === 0

function candidates(): Confinement[] {
  const networks = process.platform === 'linux' ? [true, false] : [false]
  // Even root may be unable to use another user id: when other users cannot read the code.
  const users = isRoot() ? [true, false] : [false]
  return networks.flatMap((network) => users.map((user) => ({ network, user })))
}

let found: Promise<Confinement> | undefined

/** The strongest confinement that works on this machine: looked for once a process, and again after a failure. */
export async function findConfinement(): Promise<Confinement> {
  found ??= strongest().catch((error: unknown) => {
    found = undefined
    throw error
  })
  return found
}

async function strongest(): Promise<Confinement> {
  for (const confinement of candidates()) if (await works(confinement)) return confinement
  throw new Error("Processes cannot be started with Node's permission model on this machine.")
}

const word = 'readable'

async function works(confinement: Confinement): Promise<boolean> {
  const userId = confinement.user ? takeUserId() : undefined
  const folder = await makeFolder(userId)
  try {
    const path = join(folder, 'file')
    await writeFile(path, word)
    await makeReadable(path, 0o440, userId)
    const child = spawnConfined(probe, [], { confinement, userId, folder, memoryMb: 128 })
    return child.stdout !== null && (await text(child.stdout)) === word
  } catch {
    return false
  } finally {
    if (userId !== undefined) giveBackUserId(userId)
    await rm(folder, { recursive: true, force: true })
  }
}

export interface ConfinedOptions {
  confinement: Confinement
  /** Set if the confinement includes a user id; see `takeUserId`. */
  userId: number | undefined
  /** The folder that the process may read besides its code. */
  folder: string
  /** What else it may read. */
  reads?: string[]
  memoryMb: number
}

/**
 * Starts one of our scripts in a process that cannot write, start programs or connect, and can read only its
 * folder.
 */
export function spawnConfined(script: string, args: string[], options: ConfinedOptions): ChildProcess {
  const { confinement, userId, folder, reads = [], memoryMb } = options
  const node = [
    process.execPath,
    '--permission',
    ...[...code, script, folder, ...reads].map((path) => `--allow-fs-read=${path}`),
    `--max-old-space-size=${memoryMb}`,
    '--stack-size=2000',
    '--disable-warning=ExperimentalWarning',
    '--import',
    lockdown.href,
    script,
    ...args,
  ]
  const [command = process.execPath, ...rest] = confinement.network ? [...intoNamespace(userId), ...node] : node
  const child = spawn(command, rest, {
    cwd: folder,
    // Parsers of untrusted files get none of the service's settings.
    env: { PATH: process.env['PATH'] },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(userId === undefined || confinement.network ? {} : { uid: userId, gid: userId }),
  })
  // If the program cannot be started, the process ends; without a listener the error would end the worker.
  child.on('error', () => undefined)
  if (child.pid !== undefined) giveWay(child.pid)
  return child
}

/** What people wait for comes before the reading of files. */
function giveWay(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // It has ended already.
  }
}

/** Each program replaces itself with the next (util-linux); the process ends with the one that started it. */
function intoNamespace(userId: number | undefined): string[] {
  const asUser = userId === undefined ? [] : [`--reuid=${userId}`, `--regid=${userId}`, '--clear-groups']
  const intoNetwork = ['unshare', ...(isRoot() ? [] : ['--user']), '--net', '--']
  return [...intoNetwork, 'setpriv', '--no-new-privs', '--pdeathsig=KILL', ...asUser, '--']
}

export const folderPrefix = 'assistant-reader-'

/**
 * A folder that only one reader can read, and that the reader cannot change: it could mislead the worker with a
 * link.
 */
export async function makeFolder(userId: number | undefined): Promise<string> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), folderPrefix))
  await makeReadable(folder, 0o750, userId)
  return folder
}

/** Keeps the worker as the owner and lets one reader read it, as the only member of its group. */
export async function makeReadable(path: string, mode: number, userId: number | undefined): Promise<void> {
  if (userId === undefined) return
  await chown(path, process.getuid?.() ?? 0, userId)
  await chmod(path, mode)
}

/** A range that Linux distributions and systemd do not use (systemd, "Users, Groups, UIDs and GIDs"). */
const userIds = { first: 60_600, count: 500 }
const usedUserIds = new Set<number>()

/** A user id that no other reader of this process has, so that readers cannot reach each other either. */
export function takeUserId(): number {
  for (let step = 0; step < userIds.count; step++) {
    // Begins at a different id in each process, so that the ids of two workers seldom collide.
    const id = userIds.first + ((process.pid * 37 + step) % userIds.count)
    if (usedUserIds.has(id)) continue
    usedUserIds.add(id)
    return id
  }
  throw new Error('All user ids of readers are in use.')
}

export function giveBackUserId(id: number): void {
  usedUserIds.delete(id)
}
