import type { ObjectStore } from '../../services/object-store.ts'
import type { Settings } from '../config.ts'
import { createS3Store } from './s3-store.ts'

/** The object store that the settings name; undefined without one. Connects to nothing before it is used. */
export function createObjectStore(
  {
    blobsUrl: location,
    blobsAccessKeyId: accessKeyId,
    blobsSecretAccessKey: secretAccessKey,
  }: Pick<Settings, 'blobsUrl' | 'blobsAccessKeyId' | 'blobsSecretAccessKey'>,
  fetch: typeof globalThis.fetch,
): ObjectStore | undefined {
  if (location === undefined || accessKeyId === undefined || secretAccessKey === undefined) return undefined
  return createS3Store(location, { accessKeyId, secretAccessKey }, fetch)
}
