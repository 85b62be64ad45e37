import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createS3Requests } from '../../infra/objects/s3-requests.ts'
import { createS3Store } from '../../infra/objects/s3-store.ts'
import { lanceBucket } from '../../infra/vectors/lance-bucket.ts'
import { prepareObjectStore, startObjectStore } from '../../local/services/object-store.ts'
import { locationOf, testKey } from './object-location.ts'

const keySettings = { s3AccessKeyId: testKey.accessKeyId, s3SecretAccessKey: testKey.secretAccessKey }

/** A real S3-compatible store with buckets `plain` and `versioned`. */
export async function startTestObjectStore() {
  const dataDir = await mkdtemp(join(tmpdir(), 'assistant-objects-'))
  const { value: executable } = await prepareObjectStore(() => undefined)
  const server = await startObjectStore({ executable, dataDir, ...testKey })
  const urlOf = (bucket: string, endpoint = server.endpoint) =>
    `s3://${bucket}/files?endpoint=${encodeURIComponent(endpoint)}`
  for (const bucket of ['plain', 'versioned']) {
    const requests = createS3Requests(locationOf(urlOf(bucket)), testKey, fetch)
    await requests.xml({ method: 'PUT' })
    if (bucket === 'plain') continue
    const body = Buffer.from('<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>')
    await requests.xml({ method: 'PUT', query: { versioning: '' }, body })
  }
  return {
    ...server,
    urlOf,
    /** The settings of a service that keeps its files here. */
    envOf: (bucket: string, endpoint?: string) => ({
      BLOBS_URL: urlOf(bucket, endpoint),
      S3_ACCESS_KEY_ID: testKey.accessKeyId,
      S3_SECRET_ACCESS_KEY: testKey.secretAccessKey,
    }),
    /** A LanceDB in it. */
    lanceBucketOf: (bucket: string) => lanceBucket(urlOf(bucket), keySettings, fetch),
    storeOf: (bucket: string, endpoint?: string) => createS3Store(locationOf(urlOf(bucket, endpoint)), testKey, fetch),
    async close() {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
