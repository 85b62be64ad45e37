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
    /** The same bytes, up to what the user may still store; the stream then fails with `payload_too_large`. */
    async limit(userId: string, content: Readable): Promise<Readable> {
      if (maxBytes === undefined) return content
      return Readable.from(atMost(content, maxBytes - (await storedBytes(userId)), maxBytes), { objectMode: false })
    },

    /** After a file was stored: of uploads at the same time none may take the user past the limit. */
    async check(userId: string): Promise<void> {
      if (maxBytes !== undefined && (await storedBytes(userId)) > maxBytes) throw usedUp(maxBytes)
    },
  }
}

async function* atMost(content: Readable, room: number, maxBytes: number): AsyncGenerator<Buffer> {
  let size = 0
  for await (const piece of content) {
    const bytes = Buffer.from(piece)
    size += bytes.length
    if (size > room) throw usedUp(maxBytes)
    yield bytes
  }
}

function usedUp(maxBytes: number): AppError {
  const megabytes = Math.floor(maxBytes / 1024 / 1024)
  return new AppError(
    'payload_too_large',
    `The files of this account may take ${megabytes} MB together, and these would take more. Delete files first.`,
  )
}
