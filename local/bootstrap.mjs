// Runs one of our scripts with Node 24 and its packages, whatever Node and however fresh a clone it is
// called with:
//
//   node local/bootstrap.mjs <script.ts> [args...]
//   node local/bootstrap.mjs                         installs all packages
//
// Plain JavaScript without dependencies, because nothing may be installed yet and an old Node reads it.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const modules = path.join(root, 'node_modules')
const stampFile = path.join(modules, '.install-stamp')
const nodeVersion = '24.21.0'
/** The checksums of its packages, for each system that has one of that version. */
const nodePackages = {
  'linux-x64': 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  'linux-arm64': 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
}
/** It can tell the processor time of a thread, which the guard of the workflow thread asks for. */
const oldestVersion = '24.9'
/** What starts the servers as soon as it runs. */
const scriptsWithServers = ['local/start.ts', 'test/run.ts', 'bench/main.ts', 'faults/main.ts']
/** The packages of the service, its console and its servers, without what only people read in them. */
const toRun = 'to run'
/** With the tools of tests and checks. */
const everything = 'everything'

await main()

async function main() {
  const [script, ...args] = process.argv.slice(2)
  const wanted = existsSync(modules) && !hasOnlyToRun() ? everything : neededBy(script)
  if (!packagesAreCurrent(wanted)) {
    const node = nodeToInstall()
    if (scriptsWithServers.includes(script)) installTemporal(node)
    await installPackages(node, wanted)
  }
  if (script) runScript(nodeToRun(), path.resolve(root, script), args)
}

function neededBy(script) {
  return /^(?:local|examples|scripts)\//.test(script || '') ? toRun : everything
}

/** The Node that called us when it is new enough, else one of our own. */
function nodeToRun() {
  return isNewEnough(process.versions.node) ? process.execPath : besidePackages(cachedNode())
}

/**
 * The same Node in node_modules: readers of files run under user ids of their own, which can start what lies in the
 * checkout, but may not pass through the home of the user who has the cache.
 */
function besidePackages(node) {
  const own = path.join(modules, `.node-${nodeVersion}`, 'bin', 'node')
  if (works(own)) return own
  mkdirSync(path.dirname(own), { recursive: true })
  rmSync(own, { force: true })
  try {
    linkSync(node, own)
  } catch {
    // Another file system.
    copyFileSync(node, own)
  }
  return own
}

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  const [oldestMajor, oldestMinor] = oldestVersion.split('.').map(Number)
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)
}

function works(node) {
  if (!existsSync(node)) return false
  const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  return status === 0 && isNewEnough(stdout.replace('v', ''))
}

/**
 * npm run by an older Node silently leaves out optional native packages that ask for a newer one, so
 * the install needs Node 24 itself, and one outside node_modules, which `npm ci` deletes first.
 */
function nodeToInstall() {
  const isOurs = process.execPath.startsWith(modules + path.sep)
  return isNewEnough(process.versions.node) && !isOurs ? process.execPath : cachedNode()
}

function cachedNode() {
  const folder = path.join(cacheDir(), `node-${nodeVersion}-checked`)
  const node = path.join(folder, 'bin', 'node')
  if (works(node)) return node
  say(`fetching Node ${nodeVersion} (this one is ${process.versions.node})`)
  mkdirSync(cacheDir(), { recursive: true })
  const fresh = mkdtempSync(`${folder}-`)
  fetchNode(fresh)
  if (!works(node)) rmSync(folder, { recursive: true, force: true })
  // Another process may have been faster; then its copy stays.
  if (existsSync(folder)) rmSync(fresh, { recursive: true, force: true })
  else renameSync(fresh, folder)
  if (!works(node)) fail(`Node ${nodeVersion} was installed in ${folder} but does not run.`)
  return node
}

/**
 * Puts the package of this system into the folder, if it has the checksum above. The package "node" would fetch it
 * without one, by a script.
 */
function fetchNode(folder) {
  const refuse = (reason) => {
    rmSync(folder, { recursive: true, force: true })
    fail(`Node ${nodeVersion} was not installed: ${reason}. Install Node ${oldestVersion} or newer and try again.`)
  }
  const system = `${process.platform}-${process.arch}`
  const wanted = nodePackages[system]
  if (!wanted) refuse(`no checksum of it is known for ${system}`)
  const options = ['--pack-destination', folder, '--no-audit', '--no-fund', '--loglevel=error']
  const pack = [npmCli(), 'pack', `node-${system}@${nodeVersion}`, ...options]
  const { status } = spawnSync(process.execPath, pack, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) refuse('npm could not fetch it')
  const archive = path.join(folder, `node-${system}-${nodeVersion}.tgz`)
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`
  if (found !== wanted) refuse(`its checksum is ${found} instead of ${wanted}`)
  const unpacked = spawnSync('tar', ['-xzf', archive, '-C', folder, '--strip-components=1'], { stdio: 'inherit' })
  if (unpacked.status !== 0) refuse('tar could not unpack it')
  rmSync(archive)
}

/** The same folder as in services/cache.ts. */
function cacheDir() {
  if (process.env.ASSISTANT_CACHE_DIR) return path.resolve(process.env.ASSISTANT_CACHE_DIR)
  const folder = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'assistant-platform')
  try {
    mkdirSync(folder, { recursive: true })
    return folder
  } catch {
    return path.join(root, '.cache')
  }
}

function packagesAreCurrent(wanted) {
  if (!existsSync(modules)) return false
  const stamp = installedStamp()
  if (stamp === lockStamp(everything) || stamp === lockStamp(wanted)) return true
  // What was left out of the packages does not come back when npm puts others beside them.
  if (hasOnlyToRun() || !installedMatchesLock()) return false
  writeFileSync(stampFile, lockStamp(everything))
  return true
}

function installedStamp() {
  return existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : ''
}

function hasOnlyToRun() {
  return installedStamp().endsWith(toRun)
}

function lockStamp(wanted) {
  const hash = createHash('sha256').update(readFileSync(path.join(root, 'package-lock.json')))
  return wanted === everything ? hash.digest('hex') : `${hash.digest('hex')} ${wanted}`
}

/**
 * Spares those who install by hand a second install: npm notes in node_modules what it put there.
 * Of the optional packages only those made for this machine count: an older Node leaves them out.
 */
function installedMatchesLock() {
  const note = path.join(modules, '.package-lock.json')
  if (!existsSync(note)) return false
  const installed = JSON.parse(readFileSync(note, 'utf8')).packages
  const wanted = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')).packages
  const native = Object.values(installed).flatMap((entry) => Object.keys(entry.optionalDependencies || {}))
  const counts = (name, entry) => {
    if (!isFetched(name, entry)) return false
    if (!entry.optional) return true
    return Boolean(entry.os) && isForThisMachine(entry) && native.includes(name.split('node_modules/').pop())
  }
  return Object.entries(wanted).every(
    ([name, entry]) => (installed[name] || {}).version === entry.version || !counts(name, entry),
  )
}

function isForThisMachine(entry) {
  const allows = (list, value) => !list || list.includes(value)
  return (
    allows(entry.os, process.platform) && allows(entry.cpu, process.arch) && (!entry.libc || allows(entry.libc, libc()))
  )
}

function libc() {
  const isGlibc = process.platform === 'linux' && process.report.getReport().header.glibcVersionRuntime
  return isGlibc ? 'glibc' : 'musl'
}

/** Begins the longest part of a first start. It needs no packages; the script waits for what it installs. */
function installTemporal(node) {
  const script = path.join(root, 'local', 'install-temporal.ts')
  // The channel tells it of our own death.
  const child = spawn(node, [script], { cwd: root, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  child.on('error', () => {})
}

/** `npm ci` refuses a lock file that lacks a package for some other system; `npm install` takes it as far as it goes. */
async function installPackages(node, wanted) {
  refuseUnknown()
  const omitted = wanted === everything ? [] : ['--omit=dev']
  say('installing packages with npm ci (a minute or two the first time)')
  if (!(await npm(node, 'ci', ...omitted))) {
    say('npm ci refused; trying npm install')
    if (!(await npm(node, 'install', '--no-save', ...omitted)))
      fail('The packages could not be installed; the message of npm is above.')
  }
  if (wanted === toRun) prunePackages(node)
  else linkNode(node)
  writeFileSync(stampFile, lockStamp(wanted))
}

/** npm runs what it fetches: nothing of which package-lock.json has no checksum. */
function refuseUnknown() {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'))
  const unknown = Object.keys(packages).filter(
    (name) => isFetched(name, packages[name]) && !packages[name].integrity && isForThisMachine(packages[name]),
  )
  if (unknown.length > 0)
    fail(`package-lock.json has no checksum of ${unknown.join(', ')}: run node scripts/complete-lockfile.ts`)
}

/** The scripts of package.json find the same Node, where the one that calls npm is too old for them. */
function linkNode(node) {
  const link = path.join(modules, '.bin', 'node')
  if (isNewEnough(process.versions.node)) return
  mkdirSync(path.dirname(link), { recursive: true })
  rmSync(link, { force: true })
  symlinkSync(besidePackages(node), link)
}

/** Halves what is installed. A failure costs space only. */
function prunePackages(node) {
  spawnSync(node, [path.join(root, 'scripts', 'prune-packages.ts'), '--to-run'], { cwd: root, stdio: 'inherit' })
}

/** Runs npm, and says how many packages it has fetched; whether it succeeded. */
function npm(node, ...args) {
  // The script of one package would fetch libraries for graphics processors.
  const searched = path.dirname(node) + path.delimiter + process.env.PATH
  const env = { ...process.env, PATH: searched, ONNXRUNTIME_NODE_INSTALL: 'skip' }
  const options = ['--no-audit', '--no-fund', '--loglevel=http']
  const child = spawn(node, [npmCli(), ...args, ...options], { cwd: root, env, stdio: ['inherit', 'inherit', 'pipe'] })
  const all = packagesForThisMachine(args.includes('--omit=dev'))
  let fetched = 0
  const timer = setInterval(() => say(`fetched ${Math.min(fetched, all)} of ${all} packages`), 15_000)
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (/^npm http (fetch|cache) .*\.tgz/.test(line)) fetched++
    else if (!/^npm (http|warn|notice|info)/i.test(line)) console.error(line)
  })
  const stop = () => child.kill()
  process.once('exit', stop)
  return new Promise((resolve) => {
    child.on('error', () => resolve(false))
    child.on('close', (code) => resolve(code === 0))
  }).finally(() => {
    clearInterval(timer)
    process.off('exit', stop)
  })
}

function packagesForThisMachine(omitsDev) {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages).filter(
    ([name, entry]) => isFetched(name, entry) && isForThisMachine(entry) && !(omitsDev && entry.dev),
  ).length
}

/** Our own folders, and the links to them, are there. */
function isFetched(name, entry) {
  return name.includes('node_modules/') && !entry.link
}

/** npm's own script, to be run by a Node of our choice. */
function npmCli() {
  const given = process.env.npm_execpath
  if (given && path.basename(given) === 'npm-cli.js' && existsSync(given)) return given
  const besideNode = path.join(path.dirname(process.execPath), '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js')
  const onPath = (process.env.PATH || '').split(path.delimiter).map((folder) => path.join(folder, 'npm'))
  const found = [besideNode, ...onPath.filter((file) => existsSync(file)).map((file) => realpathSync(file))]
  const cli = found.find((file) => path.basename(file) === 'npm-cli.js' && existsSync(file))
  return cli || fail('npm was not found. Install Node with npm and try again.')
}

/** Passes on what ends us: signals, and the death of the npm that runs us. The channel tells the script of our own death. */
function runScript(node, script, args) {
  const binaries = path.join(modules, '.bin')
  // A script, and every process that it starts, is ready sooner if its code is compiled already.
  const compiled = process.env.NODE_COMPILE_CACHE || path.join(modules, '.cache', 'compiled')
  const folders = [binaries, path.dirname(node), process.env.PATH].join(path.delimiter)
  const env = { ...process.env, NODE_COMPILE_CACHE: compiled, PATH: folders }
  const child = spawn(node, [script, ...args], { env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => fail(`${node} did not start: ${error.message}`))
  child.on('exit', (code, signal) => process.exit(signal ? 1 : code))
  const npm = npmPid()
  if (npm) setInterval(() => npmPid() === npm || child.kill('SIGTERM'), 500).unref()
}

/**
 * The npm that runs us: our parent, or, since npm runs scripts by a shell that may stay, the parent of
 * that shell. Another number later means that npm is gone: its children get another parent at once.
 */
function npmPid() {
  if (!process.env.npm_lifecycle_event) return undefined
  try {
    const [, name, parent] = /\((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${process.ppid}/stat`, 'utf8'))
    return /^(sh|dash|bash|zsh)$/.test(name) ? Number(parent) : process.ppid
  } catch {
    return process.ppid
  }
}

function say(line) {
  console.log(`> ${line}`)
}

function fail(line) {
  console.error(line)
  process.exit(1)
}
