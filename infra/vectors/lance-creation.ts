import { randomUUID } from 'node:crypto'
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Connection, Table } from '@lancedb/lancedb'

/** Nobody takes this long to write a table's first rows: what is older was left by a process that died. */
const abandonedAfterMs = 60 * 60_000

/**
 * Makes tables in such a way that of many makers exactly one succeeds. Lance's own creation is not
 * atomic: two at once were both told of success, and the rows of one were gone
 * (lance-format/lance#4451). In a folder, a table is therefore written beside its place and moved
 * there, which the file system grants once. An object store has no such move: there Lance's creation
 * is used as it is, and an ingestion that misses its vectors at its end stores them again.
 */
export function createTableMaker(
  uri: string,
  { database, connectTo }: { database: () => Promise<Connection>; connectTo: (uri: string) => Promise<Connection> },
) {
  const folder = folderOf(uri)

  /** `lost` when somebody else has made the table. `finish` prepares it before anybody can see it. */
  return async function make(
    name: string,
    rows: Record<string, unknown>[],
    finish: (table: Table) => Promise<void>,
  ): Promise<'made' | 'lost'> {
    if (folder === undefined) {
      const db = await database()
      await finish(await db.createTable(name, rows))
      return 'made'
    }
    const staging = join(folder, '.staging')
    const stagedName = randomUUID()
    const staged = join(staging, `${stagedName}.lance`)
    const db = await connectTo(staging)
    try {
      await finish(await db.createTable(stagedName, rows))
      await rename(staged, join(folder, `${name}.lance`))
      return 'made'
    } catch (error) {
      await rm(staged, { recursive: true, force: true })
      if (isTaken(error)) return 'lost'
      throw error
    } finally {
      db.close()
      await removeAbandoned(staging)
    }
  }
}

function folderOf(uri: string): string | undefined {
  if (uri.startsWith('file://')) return fileURLToPath(uri)
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(uri) ? undefined : resolve(uri)
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOTEMPTY' || error.code === 'EEXIST')
}

async function removeAbandoned(staging: string): Promise<void> {
  for (const name of await readdir(staging)) {
    const path = join(staging, name)
    const made = await stat(path).catch(() => undefined)
    if (made && Date.now() - made.mtimeMs > abandonedAfterMs) await rm(path, { recursive: true, force: true })
  }
}
