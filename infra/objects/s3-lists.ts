import { AppError } from '../../domain/errors.ts'
import { S3Refusal, type S3Requests } from './s3-requests.ts'

/** One thing that stands under a key. */
export interface Entry {
  key: string
  modifiedAt: Date
  versionId?: string
  uploadId?: string
}

/** Versions and markers of deletions. Stores without versions may refuse the question: then the objects. */
export async function* versions(requests: S3Requests, prefix: string): AsyncGenerator<Entry> {
  try {
    yield* pages(requests, 'ListVersionsResult', { versions: '', prefix }, ['Version', 'DeleteMarker'], {
      'key-marker': 'NextKeyMarker',
      'version-id-marker': 'NextVersionIdMarker',
    })
  } catch (error) {
    if (!(error instanceof S3Refusal && error.status === 501)) throw error
    yield* pages(requests, 'ListBucketResult', { 'list-type': '2', prefix }, ['Contents'], {
      'continuation-token': 'NextContinuationToken',
    })
  }
}

export const uploads = (requests: S3Requests, prefix: string) =>
  pages(requests, 'ListMultipartUploadsResult', { uploads: '', prefix }, ['Upload'], {
    'key-marker': 'NextKeyMarker',
    'upload-id-marker': 'NextUploadIdMarker',
  })

/** All pages of a list. `markers`: the parameters of the next request, and the members of an answer with their values. */
async function* pages(
  requests: S3Requests,
  root: string,
  query: Record<string, string>,
  names: string[],
  markers: Record<string, string>,
): AsyncGenerator<Entry> {
  let next: Record<string, string> = {}
  for (;;) {
    const { members, items } = await requests.xml({ method: 'GET', query: { ...query, ...next }, root })
    for (const { name, members: entry } of items) {
      if (!names.includes(name) || entry.Key === undefined || !entry.Key.startsWith(query.prefix ?? '')) continue
      yield {
        key: entry.Key,
        modifiedAt: new Date(entry.LastModified ?? entry.Initiated ?? ''),
        ...(entry.VersionId !== undefined && { versionId: entry.VersionId }),
        ...(entry.UploadId !== undefined && { uploadId: entry.UploadId }),
      }
    }
    if (members.IsTruncated !== 'true') return
    const after: Record<string, string> = {}
    for (const [parameter, member] of Object.entries(markers)) {
      const value = members[member]
      if (value !== undefined && value !== '') after[parameter] = value
    }
    // A store that repeats a page would be asked for ever.
    if (Object.keys(after).length === 0 || JSON.stringify(after) === JSON.stringify(next))
      throw new AppError('unavailable', 'The object store does not end its list.')
    next = after
  }
}
