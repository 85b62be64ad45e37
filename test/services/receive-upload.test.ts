import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { requestLimits } from '../../domain/limits.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import { receiveUpload } from '../../services/knowledge/uploads.ts'

it('refuses an upload of too many files, and removes what it has stored of it', async () => {
  const removed = { blobs: 0, records: 0 }
  let started = 0
  const deps: Parameters<typeof receiveUpload>[0] = {
    fileRecords: {
      open: async (_assistant, _ingestion, position) =>
        ({ _id: `f${position}`, blob_id: `b${position}` }) as FileRecord,
      noteContent: async () => undefined,
      queue: async () => undefined,
      keepAlive: async () => undefined,
      removeUnseen: async (records) => {
        removed.records += records.length
        return records.map(({ blob_id: blobId }) => blobId)
      },
    },
    blobs: {
      write: async (blobId) => ({ blobId, size: 0, sha256: '' }),
      delete: async (ids) => void (removed.blobs += ids.length),
    },
    startIngestion: async () => void (started += 1),
    storageQuota: {
      limit: async (_user, content) => ({ content, refusal: async () => undefined }),
    },
  }
  let offered = 0
  async function* parts() {
    for (; offered < requestLimits.uploadFiles + 3; offered += 1)
      yield { name: 'a.txt', contentType: 'text/plain', content: Readable.from(['x']) }
  }
  const upload = receiveUpload(deps, { _id: 'a', user_id: 'u' } as AssistantRecord, parts(), {
    ingestionId: 'i',
    confirm: async () => undefined,
  })
  await expect(upload).rejects.toMatchObject({
    code: 'invalid_input',
    fields: [{ loc: ['body', 'files'], msg: 'one upload holds at most 10000 files', type: 'too_long' }],
  })
  // The request is read to its end, so that its client sees the refusal.
  expect(offered).toBe(requestLimits.uploadFiles + 3)
  expect(removed).toEqual({ blobs: requestLimits.uploadFiles, records: requestLimits.uploadFiles })
  expect(started).toBe(0)
})
