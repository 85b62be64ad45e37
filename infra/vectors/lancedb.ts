import { setTimeout as sleep } from 'node:timers/promises'
import { MatchQuery, type Table } from '@lancedb/lancedb'
import { AppError } from '../../domain/errors.ts'
import { memberOf } from '../../domain/json.ts'
import { spaceOwner } from '../../domain/knowledge/vector-space.ts'
import { chunkTerms, questionTerms } from '../../domain/search/chunk-terms.ts'
import { type Ranked, fuse } from '../../domain/search/fuse.ts'
import type { VectorMatch, VectorQuery, VectorRecord, VectorStore } from '../../services/knowledge/vector-store.ts'
import type { LanceBucket } from './lance-bucket.ts'
import {
  type BuildSoon,
  type LanceLocation,
  buildApart,
  buildIndexes,
  isConflict,
  isTextFarBehind,
  refreshIndexes,
} from './lance-indexes.ts'
import { type LanceRow, toColumns } from './lance-rows.ts'
import { answered, closing, createLanceTables, dimensionsOf, unavailable } from './lance-tables.ts'

/**
 * LanceDB, embedded: files in a folder (or a bucket) that API and worker open at the same time. Search is hybrid:
 * nearest vectors and full text, merged. `uri` is the path of a folder; `bucket`, if given, is used instead.
 */
export function createLanceStore(uri: string, bucket?: LanceBucket): VectorStore {
  const tables = createLanceTables(uri, { bucket })
  const indexes = createIndexUpkeep({ uri, bucket }, tables)
  return {
    name: 'lancedb',
    ping: tables.ping,
    upsert: (space, records, options) => upsert(tables, space, records, options),
    search: (space, query) => search(tables, space, query),
    finalize: indexes.finalize,
    async count(space, fileId) {
      const counted = await tables.use(space, (table) =>
        answered(table.countRows(fileId === undefined ? undefined : ofFile(fileId))),
      )
      return counted ?? 0
    },
    async deleteFile(space, fileId) {
      await tables.use(space, (table) => writing(() => table.delete(ofFile(fileId))))
    },
    async deleteSpace(space) {
      // What the building of an index writes after the deletion would stay in the folder.
      await indexes.ended(space)
      await tables.drop(space)
    },
    spacesOf: tables.spacesOf,
    async listSpaces() {
      const found: string[] = []
      for (const name of await tables.names()) {
        const space = await tables.spaceOf(name)
        if (space !== undefined) found.push(space)
      }
      return found
    },
    async listFiles(space) {
      const files = new Set<string>()
      await tables.use(space, async (table) => {
        for await (const batch of table.query().select(['file_id'])) {
          for (const value of batch.getChild('file_id') ?? []) files.add(String(value))
        }
      })
      return [...files]
    },
    async close() {
      await indexes.built()
      await tables.close()
    },
  }
}

type LanceTables = ReturnType<typeof createLanceTables>

/**
 * Replaces by deletion and addition: both were safe between two processes, `mergeInsert` was not. Two writers of
 * the same chunk at the same moment leave it twice; searches count it once and `finalize` removes the duplicate.
 */
async function upsert(
  tables: LanceTables,
  space: string,
  records: VectorRecord[],
  { areNew = false }: { areNew?: boolean } = {},
): Promise<void> {
  if (records.length === 0) return
  const { assistantId } = spaceOwner(space)
  const rows = records.map((record) => toRow(assistantId, record))
  const opened = await tables.openOrMake(space, rows)
  if (!opened) return
  await closing(opened, async (table) => {
    await requireDimensions(table, rows[0]?.vector.length ?? 0)
    if (!areNew) {
      const filter = `id IN (${records.map((record) => quoted(record.id)).join(', ')})`
      if ((await answered(table.countRows(filter))) > 0) await writing(() => table.delete(filter))
    }
    await writing(() => table.add(toColumns(rows)))
  })
}

/** So many at least are found by meaning, and as many by words: what is good both ways may be the best in neither. */
const fewest = 60

async function search(tables: LanceTables, space: string, query: VectorQuery): Promise<VectorMatch[]> {
  const wanted = Math.max(fewest, query.limit)
  const found = await tables.use(space, (table) =>
    Promise.all([byVector(table, query, wanted), byWords(table, query, wanted)]),
  )
  if (!found) return []
  const [nearest, worded] = found
  const fileIds = new Map([...nearest, ...worded].map((match) => [match.id, match.fileId]))
  return fuse(nearest, worded)
    .slice(0, query.limit)
    .map((one) => ({ ...one, fileId: fileIds.get(one.id) ?? '' }))
}

/** Files that are added at shorter intervals are merged together. */
const quietMs = 2000

/** Keeps the indexes of the tables as complete as their rows. */
function createIndexUpkeep(place: LanceLocation, tables: LanceTables) {
  /** Spaces whose indexes are being built in the background. */
  const building = new Map<string, Promise<unknown>>()
  /** Spaces whose merge waits until no file is added. */
  const waiting = new Map<string, { timer: NodeJS.Timeout; build: () => void }>()

  function endWaiting(space: string): (() => void) | undefined {
    const entry = waiting.get(space)
    clearTimeout(entry?.timer)
    waiting.delete(space)
    return entry?.build
  }

  /** What fails, or is interrupted, is due again when the next file is settled. */
  function buildSoon(space: string, { isApart, isPatient }: BuildSoon): void {
    endWaiting(space)
    if (isPatient) {
      const build = () => buildSoon(space, { isApart, isPatient: false })
      waiting.set(space, { timer: setTimeout(build, quietMs).unref(), build })
      return
    }
    // What is being built may have begun before the last rows came.
    if (building.has(space)) return buildSoon(space, { isApart, isPatient: true })
    void begin(space, isApart ? buildApart(place, space) : tables.use(space, buildIndexes))
  }

  /** Keeps what is being built, until it has ended. */
  function begin(space: string, build: Promise<unknown>): Promise<unknown> {
    const built = build.finally(() => building.delete(space))
    building.set(
      space,
      built.catch(() => undefined),
    )
    return built
  }

  /** One process builds the indexes of a table at a time: two would each write all rows anew, and one in vain. */
  async function buildNow(space: string): Promise<void> {
    endWaiting(space)
    for (let under = building.get(space); under !== undefined; under = building.get(space)) await under
    await begin(space, buildApart(place, space))
  }

  return {
    async finalize(space: string, fileId: string, expected?: number): Promise<void> {
      await tables.use(space, async (table) => {
        if (expected !== undefined && (await answered(table.countRows(ofFile(fileId)))) > expected) {
          await removeDoubles(table, fileId)
        }
        await refreshIndexes(table, {
          isGrowing: expected === undefined,
          buildSoon: (how) => buildSoon(space, how),
          buildNow: () => buildNow(space),
        })
      })
    },

    /** Waits for the indexes of a space that are being built. What has not begun is not due any more. */
    async ended(space: string): Promise<void> {
      endWaiting(space)
      await building.get(space)
    },

    /** Builds at once what waits, and waits for all that is being built. */
    async built(): Promise<void> {
      while (building.size + waiting.size > 0) {
        await Promise.all(building.values())
        for (const space of waiting.keys()) endWaiting(space)?.()
      }
    },
  }
}

function toRow(assistantId: string, record: VectorRecord): LanceRow {
  return {
    id: record.id,
    assistant_id: assistantId,
    file_id: record.fileId,
    terms: chunkTerms(record.text).join(' '),
    vector: record.vector,
  }
}

type LanceMatch = Ranked & { fileId: string }

/** Empty if the table's vectors have another length than the query's: then only full text is searched. */
async function byVector(table: Table, { vector, fileIds }: VectorQuery, limit: number): Promise<LanceMatch[]> {
  if (vector === undefined || (await dimensionsOf(table)) !== vector.length) return []
  const nearest = table.query().nearestTo(vector).distanceType('cosine').nprobes(32).refineFactor(4)
  const query = fileIds === undefined ? nearest : nearest.where(ofFiles(fileIds))
  const rows: unknown[] = await answered(query.select(['id', 'file_id', '_distance']).limit(limit).toArray())
  return rows.map((row) => ({ ...identityOf(row), score: 1 - numberOf(row, '_distance') }))
}

async function byWords(table: Table, { text, fileIds }: VectorQuery, limit: number): Promise<LanceMatch[]> {
  const terms = questionTerms(text).slice(0, 64)
  if (terms.length === 0) return []
  try {
    const worded = table.query().fullTextSearch(new MatchQuery(terms.join(' '), 'terms'))
    if (await isTextFarBehind(table)) worded.fastSearch()
    const query = fileIds === undefined ? worded : worded.where(ofFiles(fileIds))
    const rows: unknown[] = await query.select(['id', 'file_id', '_score']).limit(limit).toArray()
    return rows.map((row) => ({ ...identityOf(row), score: numberOf(row, '_score') }))
  } catch (error) {
    // The process that created the table ended before it created the index; `finalize` creates it.
    if (error instanceof Error && /index/i.test(error.message)) return []
    throw unavailable(error)
  }
}

async function removeDoubles(table: Table, fileId: string): Promise<void> {
  const seen = new Set<string>()
  const doubles = new Set<string>()
  for await (const batch of table.query().select(['id']).where(ofFile(fileId))) {
    for (const value of batch.getChild('id') ?? []) {
      const id = String(value)
      if (seen.has(id)) doubles.add(id)
      seen.add(id)
    }
  }
  for (const id of doubles) {
    const filter = `id = ${quoted(id)}`
    const rows: unknown[] = await table.query().where(filter).limit(1).toArray()
    const row = rows[0]
    const stored = row === undefined ? undefined : rowOf(row)
    if (!stored) continue
    await writing(() => table.delete(filter))
    await writing(() => table.add(toColumns([stored])))
  }
}

async function requireDimensions(table: Table, dimensions: number): Promise<void> {
  const known = await dimensionsOf(table)
  if (known === dimensions) return
  throw new AppError(
    'conflict',
    `The assistant's files were embedded with ${known} dimensions and the embedding model now gives ${dimensions}. Have its files embedded anew (POST /assistants/{aid}/reembedding).`,
  )
}

/** Optimistic commits of two processes can collide; the loser only has to retry. */
async function writing<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write()
    } catch (error) {
      if (attempt >= 8 || !isConflict(error)) throw unavailable(error)
      await sleep(20 * attempt + Math.random() * 40)
    }
  }
}

function ofFile(fileId: string): string {
  return `file_id = ${quoted(fileId)}`
}

function ofFiles(fileIds: string[]): string {
  return `file_id IN (${fileIds.map(quoted).join(', ')})`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

function identityOf(row: unknown): { id: string; fileId: string } {
  return { id: String(memberOf(row, 'id')), fileId: String(memberOf(row, 'file_id')) }
}

function numberOf(row: unknown, name: string): number {
  return Number(memberOf(row, name))
}

function rowOf(row: unknown): LanceRow | undefined {
  const vector = memberOf(row, 'vector')
  if (typeof vector !== 'object' || vector === null || !(Symbol.iterator in vector)) return undefined
  const values: number[] = []
  for (const value of vector as Iterable<unknown>) values.push(Number(value))
  return {
    id: String(memberOf(row, 'id')),
    file_id: String(memberOf(row, 'file_id')),
    assistant_id: String(memberOf(row, 'assistant_id')),
    terms: String(memberOf(row, 'terms')),
    vector: values,
  }
}
