import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../domain/errors.ts'
import type { ObjectStore } from '../../services/object-store.ts'
import type { Settings } from '../config.ts'
import { parseLocation } from '../objects/location.ts'
import { createS3Store } from '../objects/s3-store.ts'

/** A bucket with a LanceDB. */
export interface LanceBucket {
  /** For LanceDB, as `s3://bucket/prefix`. */
  uri: string
  /** How LanceDB reaches it; in capitals, these are variables that it reads from the environment. */
  storageOptions: Record<string, string>
  /** Under the database's prefix. */
  objects: ObjectStore
}

export type BucketSettings = Pick<Settings, 's3AccessKeyId' | 's3SecretAccessKey'>

/** The bucket that `LANCEDB_URI` names; undefined for a folder. Throws for other stores, and without a key. */
export function lanceBucket(
  given: string,
  { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey }: BucketSettings,
  ownFetch: typeof fetch,
): LanceBucket | undefined {
  if (given.startsWith('file://') || !/^[a-z][a-z0-9+.-]+:\/\//i.test(given)) return undefined
  const location = parseLocation(given)
  if (typeof location === 'string') throw new Error(`LANCEDB_URI ${location}; only folders and s3:// are supported`)
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new Error('LANCEDB_URI names a bucket: set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY')
  const { bucket, prefix, region, endpoint, isVirtualHost } = location
  return {
    uri: `s3://${bucket}/${prefix}`.replace(/\/$/, ''),
    storageOptions: {
      aws_access_key_id: accessKeyId,
      aws_secret_access_key: secretAccessKey,
      aws_region: region,
      aws_endpoint: isVirtualHost ? `${endpoint.protocol}//${bucket}.${endpoint.host}` : endpoint.origin,
      aws_virtual_hosted_style_request: String(isVirtualHost),
      aws_allow_http: String(endpoint.protocol === 'http:'),
    },
    objects: createS3Store(location, { accessKeyId, secretAccessKey }, ownFetch),
  }
}

/** Throws if a second writer could replace what the first has stored. */
export async function requireConditionalWrites(objects: ObjectStore): Promise<void> {
  const key = `.conditions/${randomUUID()}`
  try {
    if ((await objects.create(key, Buffer.from('first'))) && !(await objects.create(key, Buffer.from('second')))) return
  } finally {
    await objects.remove(key)
  }
  throw withoutConditions()
}

/**
 * Makes a table in a bucket so that one of several simultaneous creators succeeds: `fill` writes it into a folder of
 * this machine; its files are copied, and at last its first manifest, which the store takes only once and which makes
 * the table visible. False if another creator was first.
 */
export async function makeInBucket(
  objects: ObjectStore,
  name: string,
  fill: (folder: string) => Promise<void>,
): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'assistant-table-'))
  try {
    await fill(folder)
    const table = `${name}.lance`
    const found = await readdir(join(folder, table), { recursive: true, withFileTypes: true })
    const files = found
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    const [manifest, ...others] = files.filter((file) => file.endsWith('.manifest'))
    if (manifest === undefined || others.length > 0) throw new Error('LanceDB wrote not exactly one version of a table')
    const copied = files.filter((file) => !file.startsWith(`${table}/_versions/`))
    for (const file of copied) await copy(objects, file, await readFile(join(folder, file)))
    if (await objects.create(manifest, await readFile(join(folder, manifest)))) return true
    for (const file of copied) await objects.remove(file)
    return false
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function copy(objects: ObjectStore, key: string, bytes: Buffer): Promise<void> {
  const upload = objects.upload(key)
  try {
    for (let at = 0; at < bytes.length; at += objects.pieceBytes)
      await upload.add(bytes.subarray(at, at + objects.pieceBytes))
    await upload.complete()
  } finally {
    await upload.abandon()
  }
}

const withoutConditions = () =>
  new AppError(
    'unavailable',
    'The object store of LANCEDB_URI ignores conditional writes (If-None-Match): several writers would lose vectors. Use another store.',
  )
