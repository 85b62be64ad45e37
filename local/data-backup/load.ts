import { existsSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { schemaVersionNeeded } from '../../composition/migrations.ts'
import { takeDataDir } from '../data-dir.ts'
import { type Log, LocalServiceError } from '../services/ways.ts'
import { checksums, copyTree, requireSame } from './files.ts'
import { dataFolder, readManifest } from './manifest.ts'
import { requireFit, serversHere } from './servers.ts'
import { finishSwap, restoringFolder, swap } from './swap.ts'

type LoadOptions = {
  dataDir: string
  folder: string
  env: NodeJS.ProcessEnv
  log: Log
  findServers?: typeof serversHere
}

/**
 * Puts a backup in the place of the data folder, and returns where the old one is now; undefined if there was none. The
 * copy is complete and checked before the old folder is touched.
 */
export async function loadData({
  dataDir,
  folder,
  env,
  log,
  findServers = serversHere,
}: LoadOptions): Promise<string | undefined> {
  const manifest = await readManifest(folder)
  if (manifest.schema_version > schemaVersionNeeded) {
    throw new LocalServiceError(
      `The backup was made by a newer version (schema ${manifest.schema_version}; this one knows ${schemaVersionNeeded}). Update this checkout first.`,
    )
  }
  requireFit(manifest.servers, await findServers(log))
  const missing = manifest.secrets_elsewhere.filter((name) => !env[name])
  if (missing.length > 0) {
    throw new LocalServiceError(
      `The backup was made with ${missing.join(', ')} in the environment: set the same here, or its data cannot be read.`,
    )
  }
  finishSwap(dataDir)
  const unlock = takeDataDir(dataDir)
  try {
    const restoring = restoringFolder(dataDir)
    rmSync(restoring, { recursive: true, force: true })
    const source = path.join(folder, dataFolder)
    if (!existsSync(source)) throw new LocalServiceError(`The backup is damaged: ${source} is missing.`)
    const tree = await copyTree(source, restoring)
    try {
      requireSame(source, manifest, tree, await checksums(restoring, tree))
    } catch (error) {
      rmSync(restoring, { recursive: true, force: true })
      throw error
    }
    // The lock is in the folder that takes the other one's place, too.
    writeFileSync(path.join(restoring, 'in-use-by'), String(process.pid), { mode: 0o600 })
    return await swap(dataDir)
  } finally {
    unlock()
  }
}
