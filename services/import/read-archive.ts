import type { ArchiveItem } from '../../domain/archive/items.ts'

interface ReadArchiveOptions {
  /** Maximum size of the archive, packed and unpacked. */
  maxMb: number
  /** Who imports it: messages come with the new ids of the attachments and runs that they name. */
  userId: string
  /** Ends the reading; its reason is thrown. */
  signal: AbortSignal
  /** Called with the bytes unpacked so far before each item and each piece of a file; what it throws ends the reading. */
  onProgress(unpacked: number): Promise<void>
}

/**
 * Reads an archive that `services/export` made as it arrives, outside of the thread that serves requests. Throws
 * `invalid_input` for an archive that is damaged or of another kind, `payload_too_large` for one that is too large.
 */
export type ReadArchive = (
  packed: AsyncIterator<Uint8Array>,
  options: ReadArchiveOptions,
) => AsyncGenerator<ArchiveItem>
