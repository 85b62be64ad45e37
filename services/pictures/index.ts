import type { Downloads } from '../attachments/downloads.ts'
import { type ReadPart, readImage } from '../attachments/read-part.ts'

const maxBytes = 8 * 1024 * 1024

/**
 * Pictures of other sites, which answers name by their address. They are read by the service, so that their servers
 * do not learn who reads the answer.
 */
export function createPictures(downloads: Downloads) {
  return {
    /** Throws `invalid_input` for an address that cannot be reached, and for what is not a picture. */
    read: (userId: string, url: string): Promise<ReadPart> =>
      downloads.within(userId, (download) =>
        readImage({ download }, url, { maxBytes, at: ['query', 'url'], isRemote: true }),
      ),
  }
}
