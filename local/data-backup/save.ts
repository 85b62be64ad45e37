import { existsSync, readdirSync, rmSync } from 'node:fs'
import { mkdir, open, rename } from 'node:fs/promises'
import path from 'node:path'
import { schemaVersionNeeded } from '../../composition/migrations.ts'
import { isRunning } from '../data-dir.ts'
import { secretNames } from '../secrets.ts'
import { type Log, LocalServiceError } from '../services/ways.ts'
import { consistentCopy } from './consistent-copy.ts'
import { checksums, syncFolder } from './files.ts'
import { type Manifest, dataFolder, manifestFile, manifestText } from './manifest.ts'
import { serversHere } from './servers.ts'

type SaveOptions = {
  dataDir: string
  folder: string
  env: NodeJS.ProcessEnv
  log: Log
  findServers?: typeof serversHere
}

/**
 * Copies the data folder of `npm start`, with the service running or not. The folder gets its name only when all of it
 * is on the disk, so that a folder of that name is always complete.
 */
export async function saveData({
  dataDir,
  folder,
  env,
  log,
  findServers = serversHere,
}: SaveOptions): Promise<Manifest> {
  if (!existsSync(path.join(dataDir, 'secrets')))
    throw new LocalServiceError(`${dataDir} holds no data of npm start. Set DATA_DIR if it is elsewhere.`)
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new LocalServiceError(`${folder} is not empty: a backup is never written over something else.`)
  const servers = await findServers(log)
  await mkdir(path.dirname(folder), { recursive: true })
  removeKilled(folder)
  const staging = `${folder}.incomplete-${process.pid}`
  try {
    await mkdir(staging, { mode: 0o700 })
    const data = path.join(staging, dataFolder)
    const { tree, copiedAt, pausedMs } = await consistentCopy(dataDir, data, log)
    const manifest: Manifest = {
      format: 1,
      kind: 'npm start',
      copied_at: copiedAt.toISOString(),
      paused_ms: pausedMs,
      schema_version: schemaVersionNeeded,
      servers,
      secrets_elsewhere: secretNames.filter((name) => env[name]),
      folders: tree.folders.toSorted(),
      files: await checksums(data, tree),
    }
    const file = await open(path.join(staging, manifestFile), 'wx', 0o600)
    await file.writeFile(manifestText(manifest))
    await file.sync().finally(() => file.close())
    await syncFolder(staging)
    await rename(staging, folder)
    await syncFolder(path.dirname(folder))
    return manifest
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** What backups into this folder left that were killed. */
function removeKilled(folder: string): void {
  const prefix = `${path.basename(folder)}.incomplete-`
  for (const name of readdirSync(path.dirname(folder))) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN
    if (pid > 0 && !isRunning(pid)) rmSync(path.join(path.dirname(folder), name), { recursive: true, force: true })
  }
}
