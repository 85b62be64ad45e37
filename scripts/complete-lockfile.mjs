// Adds to package-lock.json the packages for other systems that npm left out.
//
//   node scripts/complete-lockfile.mjs
//
// npm leaves out an optional package that it cannot find at once: a registry that mirrors another
// may lack the newest builds for systems that nobody near it uses. `npm ci` then refuses the lock
// file everywhere, also where it needs none of them. Their versions are those that their parents
// name; npm adds the check sums on a machine that installs them.
import { readFileSync, writeFileSync } from 'node:fs'
import { argv, exit } from 'node:process'
import { pathToFileURL } from 'node:url'

const systems = ['darwin', 'win32', 'linux', 'freebsd', 'netbsd', 'openbsd', 'android', 'openharmony', 'sunos', 'aix']
const processors = ['arm64', 'x64', 'ia32', 'arm', 'riscv64', 'ppc64', 's390x', 'loong64', 'mips64el']

const lockFile = new URL('../package-lock.json', import.meta.url)

if (argv[1] && import.meta.url === pathToFileURL(argv[1]).href) {
  const lock = JSON.parse(readFileSync(lockFile, 'utf8'))
  const missing = missingPackages(lock.packages)
  const unclear = Object.keys(missing).filter((name) => !missing[name].os)
  if (unclear.length > 0) {
    console.error(
      `These optional packages are missing, and their names do not tell their system: ${unclear.join(', ')}`,
    )
    exit(1)
  }
  const entries = Object.entries({ ...lock.packages, ...missing })
  lock.packages = Object.fromEntries(entries.sort(([a], [b]) => a.localeCompare(b, 'en')))
  writeFileSync(lockFile, `${JSON.stringify(lock, null, 2)}\n`)
  console.log(`${Object.keys(missing).length} packages added to package-lock.json`)
}

/** Entries for the optional packages that others name in a lock file's `packages` and that have no entry of their own. */
export function missingPackages(packages) {
  const missing = {}
  for (const [parent, entry] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const isThere = ancestors(parent).some((folder) => packages[`${folder}node_modules/${name}`])
      if (isThere || !/^\d/.test(version)) continue
      missing[`node_modules/${name}`] = {
        version,
        ...systemOf(name),
        ...(entry.dev && { dev: true }),
        ...(entry.devOptional && { devOptional: true }),
        optional: true,
      }
    }
  }
  return missing
}

/** The folders in which Node looks for a package's dependencies, as prefixes, innermost first. */
function ancestors(folder) {
  const parts = folder.split('/node_modules/')
  const inner = parts.map((_, index) => `${parts.slice(0, parts.length - index).join('/node_modules/')}/`)
  return [...inner, '']
}

/** Such packages carry their system in their name: `@swc/core-linux-arm64-musl`. */
function systemOf(name) {
  const words = name.split(/[/-]/)
  const os = systems.filter((system) => words.includes(system))
  const cpu = processors.filter((processor) => words.includes(processor))
  const abi = words.at(-1) ?? ''
  const libc = abi.startsWith('musl') ? ['musl'] : abi.startsWith('gnu') ? ['glibc'] : undefined
  return { ...(os.length > 0 && { os }), ...(cpu.length > 0 && { cpu }), ...(libc && { libc }) }
}
