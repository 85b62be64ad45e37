import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { type LockPackages, missingPackages, packagesWithoutChecksum } from './missing-packages.ts'

/**
 * `node scripts/complete-lockfile.ts` adds packages for other operating systems that npm left out of
 * package-lock.json, and the checksums that it lacks.
 *
 * npm leaves out an optional package that it cannot find at once, for example because a registry mirror lacks the
 * newest builds for some systems. `npm ci` then rejects the lock file everywhere. The versions are those that the
 * parent packages name. npm itself would take a package without a checksum as it comes.
 */
const lockFile = new URL('../package-lock.json', import.meta.url)
const lock: { packages: LockPackages } = JSON.parse(readFileSync(lockFile, 'utf8'))
const missing = missingPackages(lock.packages)
const entries = Object.entries({ ...lock.packages, ...missing })
lock.packages = Object.fromEntries(entries.toSorted(([a], [b]) => a.localeCompare(b, 'en')))
const unknown: string[] = []
let completed = 0
for (const { folder, spec } of packagesWithoutChecksum(lock.packages)) {
  const integrity = await checksumOf(spec)
  const { version, ...rest } = lock.packages[folder] ?? {}
  if (integrity === undefined) unknown.push(spec)
  else {
    lock.packages[folder] = { version, integrity, ...rest }
    completed++
  }
}
writeFileSync(lockFile, `${JSON.stringify(lock, null, 2)}\n`)
console.log(`${Object.keys(missing).length} packages and ${completed} checksums added to package-lock.json`)
if (unknown.length > 0) console.log(`the registry does not have ${unknown.join(', ')}`)

/** What the registry says; undefined if it does not have that version. */
async function checksumOf(spec: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('npm', ['view', spec, 'dist.integrity', '--json'])
    return String(JSON.parse(stdout))
  } catch (error) {
    if (String(error).includes('E404')) return undefined
    throw error
  }
}
