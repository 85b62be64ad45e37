import { readFileSync, writeFileSync } from 'node:fs'
import { type LockPackages, missingPackages } from './missing-packages.ts'

/**
 * `node scripts/complete-lockfile.ts` adds packages for other operating systems that npm left out of
 * package-lock.json.
 *
 * npm leaves out an optional package that it cannot find at once, for example because a registry mirror lacks the
 * newest builds for some systems. `npm ci` then rejects the lock file everywhere. The versions are those that the
 * parent packages name; npm adds the checksums on a machine that installs them.
 */
const lockFile = new URL('../package-lock.json', import.meta.url)
const lock: { packages: LockPackages } = JSON.parse(readFileSync(lockFile, 'utf8'))
const missing = missingPackages(lock.packages)
const entries = Object.entries({ ...lock.packages, ...missing })
lock.packages = Object.fromEntries(entries.toSorted(([a], [b]) => a.localeCompare(b, 'en')))
writeFileSync(lockFile, `${JSON.stringify(lock, null, 2)}\n`)
console.log(`${Object.keys(missing).length} packages added to package-lock.json`)
