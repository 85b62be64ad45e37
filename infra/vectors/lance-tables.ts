import { createHash } from 'node:crypto'
import { type Connection, Index, Session, type Table, connect } from '@lancedb/lancedb'
import { AppError } from '../../domain/errors.ts'
import { createTableMaker } from './lance-creation.ts'

/** By default the caches may use seven gigabytes, and a large upload was seen to fill them. */
const indexCacheBytes = 64n * 1024n * 1024n
const metadataCacheBytes = 32n * 1024n * 1024n

/** One row for each chunk. A table holds one assistant's chunks. */
export interface LanceRow {
  [column: string]: unknown
  id: string
  assistant_id: string
  file_id: string
  /** The chunk's terms, separated by spaces: see `domain/search/terms.ts`. */
  terms: string
  vector: number[]
}

/**
 * Tables of an embedded database that API and worker open at the same time. Every read checks for writes of other
 * processes (`readConsistencyInterval: 0`).
 */
export function createLanceTables(uri: string) {
  let connecting: Promise<Connection> | undefined
  const { make, removeUnfinished } = createTableMaker(uri, { database, connectTo })

  function database(): Promise<Connection> {
    connecting ??= connectTo(uri, new Session(indexCacheBytes, metadataCacheBytes)).catch((cause: unknown) => {
      connecting = undefined
      throw unavailable(cause)
    })
    return connecting
  }

  async function open(assistantId: string): Promise<Table | undefined> {
    const name = tableName(assistantId)
    const db = await database()
    try {
      return await db.openTable(name)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw unavailable(error)
    }
  }

  return {
    /** Undefined if the assistant has no table. The results must not be used after `work`. */
    async use<T>(assistantId: string, work: (table: Table) => Promise<T>): Promise<T | undefined> {
      const table = await open(assistantId)
      return table && closing(table, work)
    },

    /** The table, which the caller must close; undefined if there was none and it was created with these rows. */
    async openOrMake(assistantId: string, rows: LanceRow[]): Promise<Table | undefined> {
      const known = await open(assistantId)
      if (known) return known
      let problem: unknown = new Error('the table that another process created was not found')
      try {
        if (await make(tableName(assistantId), rows, createTextIndex)) return undefined
      } catch (error) {
        // In an object store another process may have been faster.
        problem = error
      }
      const table = await open(assistantId)
      if (!table) throw unavailable(problem)
      return table
    },

    async drop(assistantId: string): Promise<void> {
      const db = await database()
      try {
        await db.dropTable(tableName(assistantId))
      } catch (error) {
        if (!isMissing(error)) throw unavailable(error)
      }
      await removeUnfinished(tableName(assistantId))
    },

    async names(): Promise<string[]> {
      const db = await database()
      const names: string[] = []
      for (;;) {
        const last = names.at(-1)
        const page = await db.tableNames({ limit: 1000, ...(last === undefined ? {} : { startAfter: last }) })
        names.push(...page)
        if (page.length < 1000) return names
      }
    },

    /** The assistant of a table: from its name, or from one of its rows. */
    async assistantOf(name: string): Promise<string | undefined> {
      if (name.startsWith(plainPrefix)) return name.slice(plainPrefix.length)
      const db = await database()
      const table = await db.openTable(name)
      const rows: unknown[] = await closing(table, (open) => open.query().select(['assistant_id']).limit(1).toArray())
      const [row] = rows
      const id: unknown = typeof row === 'object' && row !== null ? Reflect.get(row, 'assistant_id') : undefined
      return typeof id === 'string' ? id : undefined
    },

    async ping(): Promise<void> {
      const db = await database()
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

/** Ids of assistants may differ only in case, or contain characters that file names cannot: those are hashed. */
function tableName(assistantId: string): string {
  if (/^[a-z0-9-]{1,64}$/.test(assistantId)) return `${plainPrefix}${assistantId}`
  return `h-${createHash('sha256').update(assistantId).digest('hex')}`
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && /was not found|not found|does not exist/i.test(error.message)
}

export function unavailable(cause: unknown): AppError {
  return cause instanceof AppError ? cause : new AppError('unavailable', 'The vector store does not answer.', { cause })
}
