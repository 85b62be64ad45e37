import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type LockPackages, missingPackages, packagesWithoutChecksum } from '../../scripts/missing-packages.ts'

const file = path.join(import.meta.dirname, '../../package-lock.json')
const lock: { packages: LockPackages } = JSON.parse(readFileSync(file, 'utf8'))

test('the lock file contains the packages for every system, so that npm ci accepts it', () => {
  const missing = Object.keys(missingPackages(lock.packages))
  expect(missing, 'run: node scripts/complete-lockfile.ts').toEqual([])
  expect(Object.keys(lock.packages).length).toBeGreaterThan(500)
})

/** No registry and no public lock file that we can read has this version for these systems. */
const unpublished = ['darwin-arm64', 'linux-arm64-gnu', 'linux-arm64-musl', 'win32-arm64-msvc', 'win32-x64-msvc']

test('the lock file has the checksum of each package', () => {
  const without = packagesWithoutChecksum(lock.packages).map(({ spec }) => spec)
  expect(without, 'run: node scripts/complete-lockfile.ts').toEqual(
    unpublished.map((system) => `@lancedb/lancedb-${system}@0.39.0`),
  )
})

test('a missing package gets the version that its parent names and the system in its name', () => {
  const parent = {
    version: '2.0.0',
    dev: true,
    optionalDependencies: {
      '@a/b-linux-arm64-musl': '2.0.0',
      '@a/b-darwin-x64': '2.0.0',
      helper: '1.0.0',
      ranged: '^1.0.0',
    },
  }
  const packages = { 'node_modules/a': parent, 'node_modules/a/node_modules/@a/b-darwin-x64': { version: '2.0.0' } }
  expect(missingPackages(packages)).toEqual({
    'node_modules/@a/b-linux-arm64-musl': {
      version: '2.0.0',
      os: ['linux'],
      cpu: ['arm64'],
      libc: ['musl'],
      dev: true,
      optional: true,
    },
  })
})
