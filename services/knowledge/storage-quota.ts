import { Readable } from 'node:stream'
import { AppError } from '../../domain/errors.ts'
import { hasOwnBytes } from '../../domain/knowledge/project-files.ts'
import { storageMaxMbOf } from '../../domain/storage-max.ts'
import type { Collections } from '../collections.ts'

export type StorageQuota = ReturnType<typeof createStorageQuota>

const megabyte = 1024 * 1024

/** Limits the total size of a user's files: by the limit set for the user, otherwise by the setting. */
export function createStorageQuota(
  { files, users }: Pick<Collections, 'files' | 'users'>,
  { storageMaxMb }: { storageMaxMb: number | undefined },
) {
  /** Undefined: no limit. */
  async function maxMbOf(userId: string): Promise<number | undefined> {
    const user = await users.findById(userId, { storage_max_mb: 1 }).lean<{ storage_max_mb?: number }>()
    return storageMaxMbOf(user ?? {}, storageMaxMb)
  }

  async function storedBytes(userId: string): Promise<number> {
    const [sum] = await files.aggregate<{ bytes: number }>([
      { $match: { user_id: userId, ...hasOwnBytes } },
      { $group: { _id: null, bytes: { $sum: '$size' } } },
    ])
    return sum?.bytes ?? 0
  }

  return {
    /** Throws `payload_too_large` if the user may not store so many bytes more. */
    async requireRoom(userId: string, bytes: number): Promise<void> {
      const maxMb = await maxMbOf(userId)
      if (maxMb !== undefined && (await storedBytes(userId)) + bytes > maxMb * megabyte) throw usedUp(maxMb)
    },

    /**
     * The same bytes, up to what the user may still store. The rest is read and thrown away, because a client hears an
     * answer only when its whole request was read; `refusal` then says why.
     */
    async limit(userId: string, content: Readable): Promise<LimitedContent> {
      const maxMb = await maxMbOf(userId)
      if (maxMb === undefined) return { content, refusal: async () => undefined }
      const room = maxMb * megabyte - (await storedBytes(userId))
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
          size > room || (await storedBytes(userId)) > maxMb * megabyte ? usedUp(maxMb) : undefined,
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
    `The files of this account may take ${maxMb} MB together, and these would take more. Delete files first.`,
  )
}
