// Before a change: docs/traps.md, Libraries.
import { randomUUID } from 'node:crypto'
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Connection, Table } from '@lancedb/lancedb'
import { type LanceBucket, makeInBucket } from './lance-bucket.ts'
import { type LanceRow, toColumns } from './lance-rows.ts'

/** Writing a table's first rows never takes this long: older folders were left by a process that died. */
const abandonedAfterMs = 60 * 60_000

/**
 * Creates tables so that exactly one of several simultaneous creators succeeds. Lance's own creation is not atomic:
 * two creators were both told of success, and the rows of one were lost (lance-format/lance#4451). In a folder, a
 * table is therefore written to a staging folder and moved to its place, which the file system allows only once. A bucket
 * takes its first manifest only once (`makeInBucket`).
 */
export function createTableMaker(
  uri: string,
  {
    using,
    connectTo,
    bucket,
  }: {
    using: (work: (db: Connection) => Promise<void>) => Promise<void>
    connectTo: (folder: string) => Promise<Connection>
    bucket?: LanceBucket | undefined
  },
) {
  if (bucket !== undefined) {
    return {
      async make(name: string, rows: LanceRow[], finish: Finish): Promise<boolean> {
        const fill = async (folder: string) => {
          const db = await connectTo(folder)
          await create(db, name, rows, async () => {}).finally(() => db.close())
        }
        if (!(await makeInBucket(bucket.objects, name, fill))) return false
        // What fails now is done when the first file is settled.
        await using((db) => finishIn(db, name, finish)).catch(() => undefined)
        return true
      },
      /** Also old versions of objects, and what a killed creator left. */
      removeUnfinished: (name: string) => bucket.objects.remove(`${name}.lance/`),
    }
  }
  const folder = uri.startsWith('file://') ? fileURLToPath(uri) : resolve(uri)
  const staging = join(folder, '.staging')

  return {
    /** False if another creator was first. `finish` prepares the table before anybody can see it. */
    async make(name: string, rows: LanceRow[], finish: Finish): Promise<boolean> {
      const stagedName = `${name}.${randomUUID()}`
      const staged = join(staging, `${stagedName}.lance`)
      const db = await connectTo(staging)
      try {
        await create(db, stagedName, rows, finish)
        await rename(staged, join(folder, `${name}.lance`))
        return true
      } catch (error) {
        await rm(staged, { recursive: true, force: true })
        if (isTaken(error)) return false
        throw error
      } finally {
        db.close()
        await removeStaged(staging, (_name, age) => age > abandonedAfterMs)
      }
    },

    /** Removes staging folders of creators that died. */
    removeUnfinished: (name: string) => removeStaged(staging, (staged) => staged.startsWith(`${name}.`)),
  }
}

type Finish = (table: Table) => Promise<void>

async function finishIn(db: Connection, name: string, finish: Finish): Promise<void> {
  const table = await db.openTable(name)
  await finish(table).finally(() => table.close())
}

async function create(db: Connection, name: string, rows: LanceRow[], finish: Finish): Promise<void> {
  const table = await db.createTable(name, toColumns(rows))
  await finish(table).finally(() => table.close())
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOTEMPTY' || error.code === 'EEXIST')
}

async function removeStaged(staging: string, isMeant: (name: string, ageMs: number) => boolean): Promise<void> {
  for (const name of await readdir(staging).catch(() => [])) {
    const path = join(staging, name)
    const made = await stat(path).catch(() => undefined)
    if (made && isMeant(name, Date.now() - made.mtimeMs)) await rm(path, { recursive: true, force: true })
  }
}
