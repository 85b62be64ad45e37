import { createReadStream } from 'node:fs'
import { cp } from 'node:fs/promises'
import path from 'node:path'
import { createGunzip } from 'node:zlib'
import mongoose from 'mongoose'
import { linesOf } from '../lines.ts'
import { type Manifest, readManifest, recordsFile, vectorsFolder } from './manifest.ts'
import { exists } from './write-backup.ts'

const { EJSON } = mongoose.mongo.BSON

interface RestoreOptions {
  folder: string
  /** Where the embedded vector store belongs, if the service uses it. */
  vectors?: string | undefined
  log(message: string): void
}

/** MongoDB takes 48 MB in one message. */
const bytesAtOnce = 16 * 1024 * 1024
const recordsAtOnce = 500

/**
 * Fills a database that has no records with those of a backup. Indexes are made afterwards by the migrations.
 * Throws when the database holds records, and when the backup does not match its manifest.
 */
export async function restoreBackup(
  connection: mongoose.Connection,
  { folder, vectors, log }: RestoreOptions,
): Promise<Manifest> {
  const manifest = await readManifest(folder)
  const { db } = connection
  if (!db) throw new Error('the database is not connected')
  for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray())
    if (!name.startsWith('system.') && (await db.collection(name).countDocuments({}, { limit: 1 })) > 0)
      throw new Error(
        `the database contains records (in ${name}): a backup can be restored only into an empty database`,
      )
  if (vectors !== undefined && manifest.has_vectors && (await exists(vectors)))
    throw new Error(`${vectors} already exists: move it away first`)
  for (const [name, expected] of Object.entries(manifest.collections)) {
    const restored = await restoreCollection(db.collection(name), path.join(folder, recordsFile(name)))
    if (restored !== expected)
      throw new Error(`the backup has ${restored} records of ${name}, and its manifest says ${expected}`)
    log(`${name}: ${restored} records`)
  }
  if (vectors !== undefined && manifest.has_vectors)
    await cp(path.join(folder, vectorsFolder), vectors, { recursive: true })
  return manifest
}

async function restoreCollection(collection: mongoose.mongo.Collection, file: string): Promise<number> {
  let count = 0
  let batch: mongoose.mongo.Document[] = []
  let bytes = 0
  const store = async () => {
    if (batch.length > 0) await collection.insertMany(batch, { ordered: false })
    count += batch.length
    batch = []
    bytes = 0
  }
  for await (const line of linesOf(createReadStream(file).pipe(createGunzip()))) {
    const record = EJSON.parse(line, { relaxed: false }) as mongoose.mongo.Document
    batch.push(record)
    bytes += line.length
    if (batch.length >= recordsAtOnce || bytes >= bytesAtOnce) await store()
  }
  await store()
  return count
}
