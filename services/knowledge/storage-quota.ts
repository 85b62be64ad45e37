import { Readable } from 'node:stream'
import { AppError } from '../../domain/errors.ts'
import type { KnowledgeCollections } from './collections.ts'

export type StorageQuota = ReturnType<typeof createStorageQuota>

/** Limits the bytes of a user's files together. Without a limit nothing is looked up. */
export function createStorageQuota({ files }: Pick<KnowledgeCollections, 'files'>, maxBytes: number | undefined) {
  async function storedBytes(userId: string): Promise<number> {
    const [sum] = await files.aggregate<{ bytes: number }>([
      { $match: { user_id: userId } },
      { $group: { _id: null, bytes: { $sum: '$size' } } },
    ])
    return sum?.bytes ?? 0
  }

  return {
    /**
     * The same bytes, up to what the user may still store. The rest is read and thrown away, because a client hears an
     * answer only when its whole request was read; `refusal` then says why.
     */
    async limit(userId: string, content: Readable): Promise<LimitedContent> {
      if (maxBytes === undefined) return { content, refusal: () => undefined }
      const room = maxBytes - (await storedBytes(userId))
      let size = 0
      async function* atMost(): AsyncGenerator<Buffer> {
        for await (const piece of content) {
          const bytes = Buffer.from(piece)
          size += bytes.length
          if (size <= room) yield bytes
        }
      }
      return {
        content: Readable.from(atMost(), { objectMode: false }),
        refusal: () => (size > room ? usedUp(maxBytes) : undefined),
      }
    },

    /** Why a file that was stored cannot stay: of uploads at the same time none may take the user past the limit. */
    async refusal(userId: string): Promise<AppError | undefined> {
      return maxBytes !== undefined && (await storedBytes(userId)) > maxBytes ? usedUp(maxBytes) : undefined
    },
  }
}

interface LimitedContent {
  content: Readable
  /** To be asked when the content has been read. */
  refusal(): AppError | undefined
}

function usedUp(maxBytes: number): AppError {
  const megabytes = Math.floor(maxBytes / 1024 / 1024)
  return new AppError(
    'payload_too_large',
    `The files of this account may take ${megabytes} MB together, and these would take more. Delete files first.`,
  )
}
