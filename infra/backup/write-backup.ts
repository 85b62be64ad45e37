import { createWriteStream } from 'node:fs'
import { cp, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import mongoose from 'mongoose'
import { type After, pagesById } from '../../domain/pages-by-id.ts'
import { schemaVersion } from '../mongo/schema-version.ts'
import { type Manifest, manifestFile, recordsFile, vectorsFolder } from './manifest.ts'

const { EJSON } = mongoose.mongo.BSON

interface BackupOptions {
  /** An empty folder, or one that is not there yet. */
  folder: string
  /** The folder of the embedded vector store, if there is one. */
  vectors?: string | undefined
  log(message: string): void
}

/** Pieces of files are a megabyte each, groups of chunks about fifty kilobytes and several megabytes at most. */
const recordsAtOnce = (collection: string) => ({ 'blobs.chunks': 8, chunks: 50 })[collection] ?? 500

/**
 * Writes all records of the database, as gzipped lines of canonical Extended JSON, and a copy of the embedded
 * vector store. Vectors come after the records: newer vectors are orphans, which the sweep removes.
 */
export async function writeBackup(connection: mongoose.Connection, options: BackupOptions): Promise<Manifest> {
  const { folder, vectors, log } = options
  await requireEmpty(folder)
  const startedAt = new Date().toISOString()
  const { db } = connection
  if (!db) throw new Error('the database is not connected')
  const names = (await db.listCollections({}, { nameOnly: true }).toArray())
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('system.'))
    .toSorted()
  const session = await snapshotSession(connection)
  if (session === undefined)
    log('this database cannot read all records as of one moment: the backup is good only if the service is stopped')
  const collections: Record<string, number> = {}
  try {
    await mkdir(path.join(folder, 'records'), { recursive: true })
    for (const name of names) {
      collections[name] = await writeCollection(db.collection(name), path.join(folder, recordsFile(name)), session)
      log(`${name}: ${collections[name]} records`)
    }
  } finally {
    await session?.endSession()
  }
  const elsewhere = await db.collection('blobs.files').countDocuments({ store: { $exists: true } })
  if (elsewhere > 0)
    log(`the bytes of ${elsewhere} files are in an object store, not in this backup: back up its bucket, too`)
  const hasVectors = vectors !== undefined && (await exists(vectors))
  if (hasVectors) await cp(vectors, path.join(folder, vectorsFolder), { recursive: true })
  const manifest: Manifest = {
    format: 1,
    started_at: startedAt,
    finished_at: new Date().toISOString(),
    schema_version: await schemaVersion(connection),
    is_snapshot: session !== undefined,
    collections,
    has_vectors: hasVectors,
  }
  await writeFile(path.join(folder, manifestFile), `${JSON.stringify(manifest, undefined, 2)}\n`)
  return manifest
}

async function writeCollection(
  collection: mongoose.mongo.Collection,
  file: string,
  session: mongoose.mongo.ClientSession | undefined,
): Promise<number> {
  let count = 0
  const lines = async function* () {
    for await (const record of recordsOf(collection, session)) {
      count += 1
      yield `${EJSON.stringify(record, { relaxed: false })}\n`
    }
  }
  await pipeline(Readable.from(lines()), createGzip({ level: 3 }), createWriteStream(file, { mode: 0o600 }))
  return count
}

/** Page by page in the order of ids: the embedded database holds the whole answer of a cursor in memory. */
async function* recordsOf(collection: mongoose.mongo.Collection, session: mongoose.mongo.ClientSession | undefined) {
  const options = session === undefined ? {} : { session }
  const pages = pagesById(recordsAtOnce(collection.collectionName), (after: After<mongoose.mongo.ObjectId>, limit) =>
    collection.find(after, options).sort({ _id: 1 }).limit(limit).toArray(),
  )
  for await (const page of pages) yield* page
}

/** MongoDB keeps what is needed for it for five minutes (`minSnapshotHistoryWindowInSeconds`). */
async function snapshotSession(connection: mongoose.Connection): Promise<mongoose.mongo.ClientSession | undefined> {
  const session = connection.getClient().startSession({ snapshot: true })
  try {
    await connection.db?.collection('schema_state').findOne({}, { session })
    // Set by a server that reads as of one moment; the driver's types leave it out.
    if ('snapshotTime' in session && session.snapshotTime !== undefined) return session
  } catch {
    // The server does not support snapshot sessions.
  }
  await session.endSession()
  return undefined
}

async function requireEmpty(folder: string): Promise<void> {
  if ((await exists(folder)) && (await readdir(folder)).length > 0)
    throw new Error(`${folder} is not empty: a backup is never written over another one`)
}

export const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  )
