import { createHash } from 'node:crypto'
import { type Connection, Index, Session, type Table, connect } from '@lancedb/lancedb'
import { AppError } from '../../domain/errors.ts'
import { spaceOwner, vectorSpace } from '../../domain/knowledge/vector-space.ts'
import { createTableMaker } from './lance-creation.ts'
import type { LanceRow } from './lance-rows.ts'

/** By default the caches may use seven gigabytes, and a large upload was seen to fill them. */
const indexCacheBytes = 64n * 1024n * 1024n
const metadataCacheBytes = 32n * 1024n * 1024n

/**
 * Tables of an embedded database that API and worker open at the same time. Every read checks for writes of other
 * processes (`readConsistencyInterval: 0`).
 */
export function createLanceTables(uri: string) {
  const database = createLanceDatabase(uri)
  const { make, removeUnfinished } = createTableMaker(uri, { database: database.connected, connectTo })

  async function open(space: string): Promise<Table | undefined> {
    const db = await database.connected()
    try {
      return await db.openTable(tableName(space))
    } catch (error) {
      if (isMissing(error)) return undefined
      throw unavailable(error)
    }
  }

  return {
    /** Undefined if the space has no table. The results must not be used after `work`. */
    async use<T>(space: string, work: (table: Table) => Promise<T>): Promise<T | undefined> {
      const table = await open(space)
      return table && closing(table, work)
    },

    /** The table, which the caller must close; undefined if there was none and it was created with these rows. */
    async openOrMake(space: string, rows: LanceRow[]): Promise<Table | undefined> {
      const known = await open(space)
      if (known) return known
      let problem: unknown = new Error('the table that another process created was not found')
      try {
        if (await make(tableName(space), rows, createTextIndex)) return undefined
      } catch (error) {
        // In an object store another process may have been faster.
        problem = error
      }
      const table = await open(space)
      if (!table) throw unavailable(problem)
      return table
    },

    async drop(space: string): Promise<void> {
      const db = await database.connected()
      try {
        await db.dropTable(tableName(space))
      } catch (error) {
        if (!isMissing(error)) throw unavailable(error)
      }
      await removeUnfinished(tableName(space))
    },

    names: database.names,

    /** The first space, even if it has no table, and those of later generations that have one. */
    async spacesOf(assistantId: string): Promise<string[]> {
      const prefix = `${tableName(assistantId)}${generationMark}`
      const later = (await database.names(prefix)).map((name) => Number(name.slice(prefix.length)))
      return [assistantId, ...later.map((generation) => vectorSpace(assistantId, generation))]
    },

    /** The space of a table: from its name, or from one of its rows. Undefined if neither tells. */
    async spaceOf(name: string): Promise<string | undefined> {
      const [plain = '', generation = 0] = name.split(generationMark)
      const id = plain.startsWith(plainPrefix) ? plain.slice(plainPrefix.length) : await database.assistantIn(name)
      return id === undefined ? undefined : vectorSpace(id, Number(generation))
    },

    ping: database.ping,
    close: database.close,
  }
}

/** The database itself; the first use connects. */
function createLanceDatabase(uri: string) {
  let connecting: Promise<Connection> | undefined

  function connected(): Promise<Connection> {
    connecting ??= connectTo(uri, new Session(indexCacheBytes, metadataCacheBytes)).catch((cause: unknown) => {
      connecting = undefined
      throw unavailable(cause)
    })
    return connecting
  }

  return {
    connected,

    /** The names of all tables, or of those that begin with `prefix`. */
    async names(prefix = ''): Promise<string[]> {
      const db = await connected()
      const found: string[] = []
      for (;;) {
        const startAfter = found.at(-1) ?? prefix
        const page = await answered(db.tableNames({ limit: 1000, ...(startAfter === '' ? {} : { startAfter }) }))
        const wanted = page.filter((name) => name.startsWith(prefix))
        found.push(...wanted)
        if (page.length < 1000 || wanted.length < page.length) return found
      }
    },

    /** The assistant that the rows of a table name. */
    async assistantIn(name: string): Promise<string | undefined> {
      const db = await connected()
      const table = await db.openTable(name)
      const rows: unknown[] = await closing(table, (open) => open.query().select(['assistant_id']).limit(1).toArray())
      const [row] = rows
      const id: unknown = typeof row === 'object' && row !== null ? Reflect.get(row, 'assistant_id') : undefined
      return typeof id === 'string' ? id : undefined
    },

    async ping(): Promise<void> {
      const db = await connected()
      try {
        await db.tableNames({ limit: 1 })
      } catch (error) {
        connecting = undefined
        throw unavailable(error)
      }
    },

    async close(): Promise<void> {
      const db = await connecting?.catch(() => undefined)
      connecting = undefined
      db?.close()
    },
  }
}

function connectTo(uri: string, session?: Session): Promise<Connection> {
  return connect(uri, { readConsistencyInterval: 0 }, session)
}

/**
 * A handle keeps metadata of a table's parts, which is large for a large table and invisible to the garbage
 * collector: handles that were not closed used hundreds of megabytes in a large ingestion.
 */
export async function closing<T>(table: Table, work: (table: Table) => Promise<T>): Promise<T> {
  try {
    return await work(table)
  } finally {
    table.close()
  }
}

export const textIndexName = 'terms_idx'
export const vectorIndexName = 'vector_idx'

/** The terms are already split, folded and stemmed: the index uses them unchanged. */
export async function createTextIndex(table: Table): Promise<void> {
  await table.createIndex('terms', {
    config: Index.fts({
      baseTokenizer: 'whitespace',
      lowercase: false,
      stem: false,
      removeStopWords: false,
      asciiFolding: false,
      withPosition: false,
    }),
    name: textIndexName,
  })
}

const plainPrefix = 'a-'
/** The part of a table name that names the assistant never contains it: see `tableName`. */
const generationMark = '.'

/** Ids of assistants may differ only in case, or contain characters that file names cannot: those are hashed. */
function tableName(space: string): string {
  const { assistantId, generation } = spaceOwner(space)
  const name = /^[a-z0-9-]{1,64}$/.test(assistantId)
    ? `${plainPrefix}${assistantId}`
    : `h-${createHash('sha256').update(assistantId).digest('hex')}`
  return generation === 0 ? name : `${name}${generationMark}${generation}`
}

export async function answered<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    throw unavailable(error)
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && /was not found|not found|does not exist/i.test(error.message)
}

export function unavailable(cause: unknown): AppError {
  return cause instanceof AppError ? cause : new AppError('unavailable', 'The vector store does not answer.', { cause })
}
