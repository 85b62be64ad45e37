// Before a change: docs/traps.md, Upgrades.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'

export const root = path.dirname(import.meta.dirname)
/** Not below `node_modules`: source maps are read of the bundle alone. */
const bundlesFolder = '.cache/processes'
/** What is bundled, by name. `npm start` and the image start the same files; the image has those of the product only. */
export const processEntries = {
  start: 'local/npm-start.ts',
  api: 'api/server.ts',
  'local-api': 'local/api.ts',
  worker: 'worker/main.ts',
  migrate: 'scripts/migrate.ts',
  'demo-model': 'local/demo-model/main.ts',
} as const

/** What reads foreign files and executes foreign code, in a folder of its own: it can read nothing else of the bundle. */
export const readersFolder = 'readers'
/** They are started by `new URL('./child/NAME.ts', import.meta.url)`, which the bundle replaces. */
export const readerEntries = {
  main: 'infra/extract/child/main.ts',
  lockdown: 'infra/extract/child/lockdown.ts',
  probe: 'infra/extract/child/probe.ts',
  interpreter: 'infra/python/child/interpreter.ts',
} as const

/** The folders whose files can be part of the bundle. A test compares this with the bundle's contents. */
const folders = ['activities', 'api', 'composition', 'domain', 'infra', 'local', 'scripts', 'services', 'worker']

/** The files on which the bundle depends. */
export function bundleSources(project = root): string[] {
  const sources = folders
    .filter((folder) => existsSync(path.join(project, folder)))
    .flatMap((folder) =>
      readdirSync(path.join(project, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => path.join(folder, name)),
    )
  const lockFile = existsSync(path.join(project, 'package-lock.json')) ? ['package-lock.json'] : []
  return [...sources.toSorted(), ...lockFile]
}

/** The folder of the bundle that fits the sources as they are now. */
export function currentBundle(project = root): string {
  const hash = createHash('sha256')
  for (const file of bundleSources(project)) hash.update(file).update(readFileSync(path.join(project, file)))
  return path.join(project, bundlesFolder, hash.digest('hex').slice(0, 32))
}

/**
 * The script of a process: the bundle if it fits the sources at this moment, otherwise the source itself. So a
 * process that is restarted after a change of the sources runs the changed sources.
 */
export function scriptOf(name: keyof typeof processEntries, project = root): string {
  const bundled = path.join(currentBundle(project), `${name}.mjs`)
  return existsSync(bundled) ? bundled : processEntries[name]
}
