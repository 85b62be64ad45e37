import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, Index, Session, type Table, connect as connectLance } from '@lancedb/lancedb'
import { addAll } from '../../domain/add-all.ts'
import { AppError } from '../../domain/errors.ts'
import { memberOf } from '../../domain/json.ts'
import { spaceOwner, vectorSpace } from '../../domain/knowledge/vector-space.ts'
import { type LanceBucket, requireConditionalWrites } from './lance-bucket.ts'
import { createTableMaker } from './lance-creation.ts'
import type { LanceRow } from './lance-rows.ts'

/** A merge of a table takes a second. */
const dropAttempts = 8

/** By default the caches may use seven gigabytes, and a large upload was seen to fill them. */
const indexCacheBytes = 64n * 1024n * 1024n
const metadataCacheBytes = 32n * 1024n * 1024n
/**
 * The caches count a small table as a few kilobytes; in fact each keeps an open file and 250 KB, as long as the
 * connection. Ten thousand assistants that were searched once held 2.5 GB.
 */
const tablesOfConnection = 500

interface LanceOptions {
  bucket?: LanceBucket | undefined
  /** How many tables one connection opens; default `tablesOfConnection`. */
  mostTables?: number
}

/**
 * Tables of an embedded database that API and worker open at the same time. Every read checks for writes of other
 * processes (`readConsistencyInterval: 0`).
 */
export function createLanceTables(uri: string, options: LanceOptions = {}) {
  const database = createLanceDatabase(uri, options)
  const { make, removeUnfinished } = createTableMaker(uri, { using: database.using, connectTo, bucket: options.bucket })

  async function open(space: string): Promise<Table | undefined> {
    try {
      return await database.openTable(tableName(space))
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
        problem = error
      }
      const table = await open(space)
      if (!table) throw unavailable(problem)
      return table
    },

    async drop(space: string): Promise<void> {
      for (let attempt = 1; ; attempt++) {
        try {
          await database.using((db) => db.dropTable(tableName(space)))
          break
        } catch (error) {
          if (isMissing(error)) break
          if (!isBeingWritten(error) || attempt === dropAttempts) throw unavailable(error)
          await sleep(attempt * 50)
        }
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

interface Opened {
  db: Connection
  /** Names of the tables that were opened. */
  tables: Set<string>
  /** Calls that have not returned. */
  uses: number
}

/** The database itself; the first use connects, and after many tables another connection takes the place of this one. */
function createLanceDatabase(uri: string, { bucket, mostTables = tablesOfConnection }: LanceOptions) {
  let current: Promise<Opened> | undefined
  let isSafe = false

  async function connect(): Promise<Connection> {
    const session = new Session(indexCacheBytes, metadataCacheBytes)
    if (bucket === undefined) return connectTo(uri, session)
    if (!isSafe) await requireConditionalWrites(bucket.objects)
    isSafe = true
    return connectTo(bucket.uri, session, bucket.storageOptions)
  }

  function connected(): Promise<Opened> {
    current ??= connect().then(
      (db) => ({ db, tables: new Set<string>(), uses: 0 }),
      (cause: unknown) => {
        current = undefined
        throw unavailable(cause)
      },
    )
    return current
  }

  async function using<T>(work: (db: Connection) => Promise<T>, table?: string): Promise<T> {
    const connecting = connected()
    const opened = await connecting
    opened.uses++
    if (table !== undefined) opened.tables.add(table)
    if (opened.tables.size >= mostTables && current === connecting) current = undefined
    try {
      return await work(opened.db)
    } finally {
      opened.uses--
      if (opened.uses === 0 && opened.tables.size >= mostTables) opened.db.close()
    }
  }

  const openTable = (name: string) => using((db) => db.openTable(name), name)

  return {
    using,
    openTable,

    /** The names of all tables, or of those that begin with `prefix`. */
    async names(prefix = ''): Promise<string[]> {
      const found: string[] = []
      for (;;) {
        const startAfter = found.at(-1) ?? prefix
        const options = { limit: 1000, ...(startAfter === '' ? {} : { startAfter }) }
        const page = await answered(using((db) => db.tableNames(options)))
        const wanted = page.filter((name) => name.startsWith(prefix))
        addAll(found, wanted)
        if (page.length < 1000 || wanted.length < page.length) return found
      }
    },

    /** The assistant that the rows of a table name. */
    async assistantIn(name: string): Promise<string | undefined> {
      const table = await openTable(name)
      const rows: unknown[] = await closing(table, (open) => open.query().select(['assistant_id']).limit(1).toArray())
      const [row] = rows
      const id = memberOf(row, 'assistant_id')
      return typeof id === 'string' ? id : undefined
    },

    async ping(): Promise<void> {
      try {
        await using((db) => db.tableNames({ limit: 1 }))
      } catch (error) {
        current = undefined
        throw unavailable(error)
      }
    },

    async close(): Promise<void> {
      const opened = await current?.catch(() => undefined)
      current = undefined
      opened?.db.close()
    },
  }
}

function connectTo(uri: string, session?: Session, storageOptions: Record<string, string> = {}): Promise<Connection> {
  return connectLance(uri, { readConsistencyInterval: 0, storageOptions }, session)
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

export async function dimensionsOf(table: Table): Promise<number | undefined> {
  const schema = await answered(table.schema())
  const type: unknown = schema.fields.find((field) => field.name === 'vector')?.type
  if (typeof type !== 'object' || type === null || !('listSize' in type)) return undefined
  return typeof type.listSize === 'number' ? type.listSize : undefined
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

/** Another process that builds an index of the table has written a file while its folder was removed. */
function isBeingWritten(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Directory not empty')
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && /was not found|not found|does not exist/i.test(error.message)
}

export function unavailable(cause: unknown): AppError {
  return cause instanceof AppError ? cause : new AppError('unavailable', 'The vector store does not answer.', { cause })
}
