import type { ObjectStore } from '../../services/object-store.ts'
import type { Settings } from '../config.ts'
import { createS3Store } from './s3-store.ts'

/** The object store that the settings name; undefined without one. Connects to nothing before it is used. */
export function createObjectStore(
  {
    blobsUrl: location,
    s3AccessKeyId: accessKeyId,
    s3SecretAccessKey: secretAccessKey,
  }: Pick<Settings, 'blobsUrl' | 's3AccessKeyId' | 's3SecretAccessKey'>,
  fetch: typeof globalThis.fetch,
): ObjectStore | undefined {
  if (location === undefined) return undefined
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new Error('BLOBS_URL is set: set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY')
  return createS3Store(location, { accessKeyId, secretAccessKey }, fetch)
}
