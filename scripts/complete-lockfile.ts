import { readFileSync, writeFileSync } from 'node:fs'
import { type LockPackages, missingPackages } from './missing-packages.ts'

/**
 * `node scripts/complete-lockfile.ts` adds to package-lock.json the packages for other systems that
 * npm left out.
 *
 * npm leaves out an optional package that it cannot find at once: a registry that mirrors another may
 * lack the newest builds for systems that nobody near it uses. `npm ci` then refuses the lock file
 * everywhere, also where none of them is needed. Their versions are those that their parents name;
 * npm adds the check sums on a machine that installs them.
 */
const lockFile = new URL('../package-lock.json', import.meta.url)
const lock: { packages: LockPackages } = JSON.parse(readFileSync(lockFile, 'utf8'))
const missing = missingPackages(lock.packages)
const entries = Object.entries({ ...lock.packages, ...missing })
lock.packages = Object.fromEntries(entries.toSorted(([a], [b]) => a.localeCompare(b, 'en')))
writeFileSync(lockFile, `${JSON.stringify(lock, null, 2)}\n`)
console.log(`${Object.keys(missing).length} packages added to package-lock.json`)
