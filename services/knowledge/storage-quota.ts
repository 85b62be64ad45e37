import { Readable } from 'node:stream'
import { AppError } from '../../domain/errors.ts'
import { storageMaxMbOf } from '../../domain/storage-max.ts'
import type { Collections } from '../collections.ts'
import { userStore } from '../stores/users.ts'
import { type StoredBytesCollections, createStoredBytes } from './stored-bytes.ts'

export type StorageQuota = ReturnType<typeof createStorageQuota>

const megabyte = 1024 * 1024

/** Limits what a user stores: by the limit set for the user, otherwise by the setting. */
export function createStorageQuota(
  collections: StoredBytesCollections & Pick<Collections, 'users'>,
  { storageMaxMb }: { storageMaxMb: number | undefined },
) {
  const storedBytes = createStoredBytes(collections)

  /** Undefined: no limit. */
  async function maxMbOf(userId: string): Promise<number | undefined> {
    const own = await userStore(collections).storageMaxMbOf(userId)
    return storageMaxMbOf(own === undefined ? {} : { storage_max_mb: own }, storageMaxMb)
  }

  /**
   * Throws `payload_too_large` if the user may not store what a run does. Public callers are told nothing about the
   * account.
   */
  async function requireRoomForRun(userId: string, bytes: number, isPublic: boolean): Promise<void> {
    const maxMb = await maxMbOf(userId)
    if (maxMb === undefined) return
    if (!(await storedBytes.addForRun(userId, bytes, maxMb * megabyte)))
      throw isPublic ? fullForPublic() : usedUp(maxMb)
  }

  return {
    /** Throws `payload_too_large` if the user may not store so many bytes more. */
    async requireRoom(userId: string, bytes: number): Promise<void> {
      const maxMb = await maxMbOf(userId)
      if (maxMb !== undefined && (await storedBytes.of(userId)) + bytes > maxMb * megabyte) throw usedUp(maxMb)
    },

    requireRoomForRun,

    /** The same for images and files of messages that come without a run. */
    async requireRoomForParts(userId: string, parts: readonly { size: number }[]): Promise<void> {
      const bytes = parts.reduce((sum, { size }) => sum + size, 0)
      if (bytes > 0) await requireRoomForRun(userId, bytes, false)
    },

    /**
     * The same bytes, up to what the user may still store. The rest is read and thrown away, because a client hears an
     * answer only when its whole request was read; `refusal` then says why. Bytes of an upload in parts may take what
     * was announced for it.
     */
    async limit(userId: string, content: Readable, uploadId?: string): Promise<LimitedContent> {
      const maxMb = await maxMbOf(userId)
      if (maxMb === undefined) return { content, refusal: async () => undefined }
      const room = maxMb * megabyte - (await storedBytes.of(userId, uploadId))
      let size = 0
      async function* atMost(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
        for await (const bytes of pieces) {
          size += bytes.length
          if (size <= room) yield bytes
        }
      }
      return {
        content: Readable.from(atMost(content), { objectMode: false }),
        refusal: async () =>
          size > room || (await storedBytes.of(userId)) > maxMb * megabyte ? usedUp(maxMb) : undefined,
      }
    },
  }
}

interface LimitedContent {
  content: Readable
  /**
   * Why a file cannot stay. Call it when the file has been stored, so that simultaneous uploads cannot exceed the limit
   * together.
   */
  refusal(): Promise<AppError | undefined>
}

function usedUp(maxMb: number): AppError {
  return new AppError(
    'payload_too_large',
    `The files and kept answers of this account may take ${maxMb} MB together, and these would take more. Delete some first.`,
  )
}

function fullForPublic(): AppError {
  return new AppError('payload_too_large', 'This assistant can store nothing more at the moment.')
}
