import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { AppError } from '../../domain/errors.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { DerivedSecrets } from '../accounts/derived-secrets.ts'
import { createSemaphore } from '../semaphore.ts'
import { type ArchiveDeps, userArchive } from './user-archive.ts'

interface ExportsDeps extends ArchiveDeps {
  secrets: Pick<DerivedSecrets, 'exportSignature' | 'isExportSignature'>
  baseUrl: string
}

export interface ExportLink {
  userId: string
  /** Milliseconds since 1970. */
  expires: number
  signature: string
}

const linkMs = 24 * 60 * 60 * 1000
/** Archives that one process writes at once. */
const atOnce = 4

/**
 * Archives of all data of a user. Nothing is stored: the link is signed, and a request with it within a day is
 * answered with the archive, which is created while it is sent.
 */
export function createExports({ secrets, baseUrl, ...deps }: ExportsDeps) {
  const slots = createSemaphore({ slots: atOnce, slotsPerOwner: 1, waitingPerOwner: 0 })
  return {
    linkFor(userId: string): { url: string; expires_at: string } {
      const expires = Date.now() + linkMs
      const query = new URLSearchParams({
        user_id: userId,
        expires: String(expires),
        signature: secrets.exportSignature(userId, expires),
      })
      return { url: `${baseUrl}/user/export/archive?${query.toString()}`, expires_at: new Date(expires).toISOString() }
    },

    /** The archive as a gzipped tar stream. Throws `forbidden` for a link that is wrong or too old. */
    async open({ userId, expires, signature }: ExportLink): Promise<Readable> {
      if (!secrets.isExportSignature(userId, expires, signature) || expires < Date.now())
        throw new AppError('forbidden', 'This link is not valid or has expired. Ask for a new one.')
      const user = await deps.collections.users.findById(userId).lean<UserRecord>()
      if (user === null || user.deleting || user.suspended_at !== undefined)
        throw new AppError('not_found', 'This account no longer exists or is suspended.')
      const release = await slots.acquire(userId)
      if (release === undefined) throw alreadySent()
      const source = Readable.from(userArchive(deps, user), { objectMode: false })
      const archive = createGzip({ level: 3 })
      source.once('error', (error) => archive.destroy(error))
      archive.once('close', () => {
        source.destroy()
        release()
      })
      return source.pipe(archive)
    },
  }
}

function alreadySent(): AppError {
  const message = 'An archive of this account is already being sent, or too many others are.'
  return new AppError('too_many_requests', message, { retryAfterSeconds: 30 })
}
