import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { AppError } from '../../domain/errors.ts'
import type { DerivedSecrets } from '../accounts/derived-secrets.ts'
import { userStore } from '../stores/users.ts'
import { createTransfers, type Transfer } from '../transfers.ts'
import { type ArchiveDeps, userArchive } from './user-archive.ts'

interface ExportsDeps extends ArchiveDeps {
  secrets: Pick<DerivedSecrets, 'exportSignature' | 'isExportSignature'>
  settings: { baseUrl: string; archivesAtOnce?: number }
}

export interface ExportLink {
  userId: string
  /** Milliseconds since 1970. */
  expires: number
  signature: string
}

const linkMs = 24 * 60 * 60 * 1000

/**
 * Archives of all data of a user. Nothing is stored: the link is signed, and a request with it within a day is
 * answered with the archive, which is created while it is sent.
 */
export function createExports({ secrets, settings, ...deps }: ExportsDeps) {
  const transfers = createTransfers({ slots: settings.archivesAtOnce, name: 'export' })
  return {
    linkFor(userId: string): { url: string; expires_at: string } {
      const expires = Date.now() + linkMs
      const query = new URLSearchParams({
        user_id: userId,
        expires: String(expires),
        signature: secrets.exportSignature(userId, expires),
      })
      const url = `${settings.baseUrl}/user/export/archive?${query.toString()}`
      return { url, expires_at: new Date(expires).toISOString() }
    },

    /**
     * The archive as a gzipped tar stream. Throws `forbidden` for a link that is wrong or too old. `gone` is aborted
     * when the client disconnects.
     */
    async open({ userId, expires, signature }: ExportLink, gone: AbortSignal): Promise<Readable> {
      if (!secrets.isExportSignature(userId, expires, signature) || expires < Date.now())
        throw new AppError('forbidden', 'This link is not valid or has expired. Ask for a new one.')
      const transfer = await transfers.open(userId, gone)
      try {
        const user = await userStore(deps.collections).find(userId)
        if (user === null || user.deleting || (user.suspended_at ?? user.deactivated_at) !== undefined)
          throw new AppError('not_found', 'This account no longer exists or is suspended.')
        return sent(userArchive(deps, user), transfer)
      } catch (error) {
        transfer.end()
        throw error
      }
    },
  }
}

/** The pieces compressed, for as long as the client takes them quickly enough. */
function sent(pieces: AsyncIterable<Buffer>, transfer: Transfer): Readable {
  const source = Readable.from(pieces, { objectMode: false })
  const archive = createGzip({ level: 3 })
  source.once('error', (error) => archive.destroy(error))
  source.pipe(archive)
  const stop = () => {
    const reason: unknown = transfer.signal.reason
    archive.destroy(reason instanceof Error ? reason : undefined)
  }
  transfer.signal.addEventListener('abort', stop, { once: true })
  const taken = Readable.from(takenFrom(archive, transfer), { objectMode: false })
  archive.once('error', (error) => taken.destroy(error))
  taken.once('close', () => {
    source.destroy()
    archive.destroy()
    transfer.end()
  })
  return taken
}

async function* takenFrom(archive: Readable, transfer: Transfer): AsyncGenerator<Buffer, undefined> {
  for await (const piece of archive) {
    const bytes = Buffer.from(piece)
    transfer.waits()
    yield bytes
    transfer.moved(bytes.length)
  }
}
