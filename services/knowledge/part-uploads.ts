import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { projectOwner } from '../../domain/knowledge/project-files.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { Collections } from '../collections.ts'
import { type Caller, holderOf } from '../owner.ts'
import { partsOf, projectFileStore, fileStore } from '../stores/files.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { BlobStore } from './blob-store.ts'
import { type ProjectFileRecords, touching } from './project-file-records.ts'
import type { StorageQuota } from './storage-quota.ts'

interface PartUploadsDeps {
  collections: Pick<Collections, 'files'>
  blobs: Pick<BlobStore, 'newBlobId' | 'join' | 'unjoin' | 'read' | 'delete'>
  records: ProjectFileRecords
  storageQuota: Pick<StorageQuota, 'requireRoom'>
  transaction: RunInTransaction
}

interface NewUpload {
  name: string
  contentType: string
  purpose: string
  bytes: number
  /** How long the file stays after it is complete; undefined: until it is deleted. */
  expiresAfterSeconds: number | undefined
}

/** The record of a file that arrives in parts. Its id is that of the upload, too. */
export type UploadRecord = FileRecord & { upload: NonNullable<FileRecord['upload']> }

/** As the interface says. */
export const uploadLimits = { bytes: 8 * 1024 ** 3, partBytes: 64 * 1024 ** 2, parts: 1000, openMs: 60 * 60_000 }

/** A completion renews its claim once a minute. */
const staleClaimMs = 5 * 60_000

/**
 * Files of a project that arrive in parts. An upload and each of its parts are hidden files with a time at which they
 * expire: what is not completed or cancelled within an hour is removed by the retention.
 */
export function createPartUploads({ collections, transaction, ...deps }: PartUploadsDeps) {
  const files = projectFileStore(collections)
  const { blobs, records, storageQuota } = deps

  async function find({ projectId }: Caller, id: string): Promise<UploadRecord> {
    const record = await files.findUpload(projectOwner(projectId), id)
    if (!isUpload(record) || (record.status === 'uploading' && isOver(record)))
      throw new AppError('not_found', `There is no upload ${id}, or it has expired.`)
    return record
  }

  async function findPending(caller: Caller, id: string): Promise<UploadRecord> {
    const record = await find(caller, id)
    if (record.status !== 'uploading') throw new AppError('bad_request', 'The upload has been completed already.')
    return record
  }

  /** The parts in the order of the caller. Throws `invalid_input` for one that is missing, and for wrong sizes. */
  async function chosenParts({ _id, upload }: UploadRecord, partIds: string[]): Promise<FileRecord[]> {
    const stored = (await files.listParts(_id)).filter(({ extracted }) => extracted)
    const byId = new Map(stored.map((part) => [part._id, part]))
    if (new Set(partIds).size < partIds.length) throw invalidInput(['body', 'part_ids'], 'name each part once')
    const parts = partIds.map((id, index) => {
      const part = byId.get(id)
      if (part === undefined) throw invalidInput(['body', 'part_ids', index], 'is no part of this upload')
      return part
    })
    const bytes = parts.reduce((sum, { size }) => sum + size, 0)
    if (bytes !== upload.bytes)
      throw invalidInput(
        ['body', 'part_ids'],
        `the parts have ${bytes} bytes, and the upload was to have ${upload.bytes}`,
      )
    return parts
  }

  /** Only one completion at a time writes the file. */
  async function claim(upload: UploadRecord): Promise<UploadRecord> {
    const blobId = blobs.newBlobId()
    const before = await files.claim(upload._id, blobId, staleClaimMs)
    if (before === null) throw new AppError('conflict', 'The upload is being completed or cancelled.')
    // Of a completion that broke off.
    await blobs.unjoin(before.blob_id)
    return { ...upload, blob_id: blobId }
  }

  async function removeParts(uploadId: string): Promise<void> {
    for (const part of await files.listParts(uploadId)) await records.discard(part)
  }

  async function checkMd5(parts: FileRecord[], md5: string): Promise<void> {
    const hash = createHash('md5')
    for (const part of parts) for await (const piece of blobs.read(part.blob_id)) hash.update(bytesOf(piece))
    if (hash.digest('hex') !== md5.toLowerCase()) throw invalidInput(['body', 'md5'], 'the bytes have another checksum')
  }

  /** Shows the file, and forgets its parts in the same moment: their bytes are the file's from now on. */
  async function show(record: UploadRecord, parts: FileRecord[]): Promise<void> {
    const now = new Date()
    const { bytes: size, expires_after_seconds: seconds } = record.upload
    const shown = { status: 'ready', extracted: true, size, created_at: now, updated_at: now } as const
    const expiry = seconds === undefined ? {} : { expires_at: new Date(now.getTime() + seconds * 1000) }
    await transaction(async (session) => {
      if (!(await files.showUpload(record, { ...shown, ...expiry }, parts, session)))
        throw new AppError('not_found', 'The upload was cancelled or has expired.')
    })
  }

  return {
    /** Throws `payload_too_large` if the user may not store so much. */
    async create(caller: Caller, { bytes, expiresAfterSeconds, ...file }: NewUpload): Promise<UploadRecord> {
      await storageQuota.requireRoom(holderOf(caller).userId, bytes)
      const id = newId()
      const now = new Date()
      const upload = {
        bytes,
        created_at: now,
        ...(expiresAfterSeconds === undefined ? {} : { expires_after_seconds: expiresAfterSeconds }),
      }
      const expires_at = new Date(now.getTime() + uploadLimits.openMs)
      const record = await records.open(caller, { ...file, _id: id, upload, expires_at })
      try {
        // The announced bytes count from here on: uploads that begin at the same time cannot exceed the quota together.
        await storageQuota.requireRoom(holderOf(caller).userId, 0)
        await records.requireProject(caller)
      } catch (error) {
        await records.discard(record)
        throw error
      }
      return { ...record, upload }
    },

    /** Throws `not_found` for an upload of another project, and `bad_request` for one that is complete. */
    async requirePending(caller: Caller, id: string): Promise<void> {
      await findPending(caller, id)
    },

    /**
     * Stores a part. Throws `payload_too_large` for one beyond 64 MB, and `bad_request` if the parts are more than twice
     * what was announced: one that is sent again because its answer was lost has another id.
     */
    async addPart(caller: Caller, uploadId: string, content: Readable): Promise<FileRecord> {
      const upload = await findPending(caller, uploadId)
      const room = async (): Promise<number> => {
        const stored = await files.listParts(uploadId)
        if (stored.length > uploadLimits.parts) return -1
        return stored.reduce((left, { size }) => left - size, 2 * upload.upload.bytes)
      }
      const left = await room()
      if (left <= 0) throw tooManyParts()
      const { expires_at } = upload
      const facts = { name: upload.name, contentType: 'application/octet-stream', ...partsOf(uploadId) }
      const part = await records.open(caller, { ...facts, ...(expires_at === undefined ? {} : { expires_at }) })
      const limited = upTo(Math.min(uploadLimits.partBytes, left), content)
      try {
        const refusal = await records.store(part, limited.content, uploadId)
        if (limited.isTooLong(uploadLimits.partBytes))
          throw new AppError('payload_too_large', 'A part has at most 64 MB.')
        // Parts that arrive at the same time may exceed it together.
        if (limited.isTooLong(left) || (await room()) < 0) throw tooManyParts()
        if (refusal !== undefined) throw refusal
        await findPending(caller, uploadId)
        await files.notePart(part)
        return part
      } catch (error) {
        await records.discard(part)
        throw error
      }
    },

    /**
     * Makes the file of the parts, whose bytes are not copied. Repeated, it answers the same. `md5`: of the file, in
     * hexadecimal.
     */
    async complete(
      caller: Caller,
      id: string,
      { partIds, md5 }: { partIds: string[]; md5?: string | undefined },
    ): Promise<UploadRecord> {
      const found = await find(caller, id)
      if (found.status !== 'uploading') return found
      const parts = await chosenParts(found, partIds)
      const record = await claim(found)
      const touch = () => files.keepClaim(record)
      const make = async () => {
        if (md5 !== undefined) await checkMd5(parts, md5)
        const pieces = parts.map(({ blob_id: blobId, size }) => ({ blobId, size }))
        await blobs.join(record.blob_id, record.assistant_id, pieces)
        await show(record, parts)
      }
      await touching(touch, make).catch(async (error: unknown) => {
        // Not of a file that is shown: the error may have come after that.
        if (await files.releaseClaim(record)) await blobs.unjoin(record.blob_id)
        else if (!(await fileStore(collections).existsOfAny(id))) await blobs.delete([record.blob_id])
        throw error
      })
      await records.requireProject(caller)
      // Parts that were not named; what is left of them expires.
      await removeParts(id).catch(() => undefined)
      return find(caller, id)
    },

    async cancel(caller: Caller, id: string): Promise<UploadRecord> {
      const record = await findPending(caller, id)
      if (!(await files.cancelUpload(record))) throw new AppError('conflict', 'The upload is being completed.')
      await blobs.delete([record.blob_id])
      await removeParts(id)
      return record
    },
  }
}

function isUpload(record: FileRecord | null): record is UploadRecord {
  return record?.upload !== undefined
}

function tooManyParts(): AppError {
  return new AppError(
    'bad_request',
    'The upload has more or larger parts than it announced. Cancel it, and begin anew with its real size and larger parts.',
  )
}

const isOver = ({ expires_at: end }: FileRecord) => end !== undefined && end.getTime() <= Date.now()

function bytesOf(piece: unknown): Buffer {
  if (piece instanceof Uint8Array) return Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
  throw new Error('a stream of bytes gave something else')
}

/** The first bytes. The rest is read and thrown away: a client hears an answer only when its request was read. */
function upTo(maxBytes: number, content: Readable) {
  let size = 0
  async function* beginning(): AsyncGenerator<Buffer> {
    for await (const piece of content) {
      const bytes = bytesOf(piece)
      size += bytes.length
      if (size <= maxBytes) yield bytes
    }
  }
  return { content: Readable.from(beginning(), { objectMode: false }), isTooLong: (most: number) => size > most }
}
