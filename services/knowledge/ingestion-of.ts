import type { FileRecord } from '../../domain/records/file.ts'

/** The id of the ingestion that retries a file for the `number`th time. */
export const retryId = (fileId: string, number: number) => `${fileId}-retry-${number}`

/** The ingestion that processes the file, or was the last to do so. */
export function ingestionOf({ _id, ingestion_id: first, retries = 0 }: FileRecord): string {
  return retries === 0 ? first : retryId(_id, retries)
}

/** Which ingestion processes a new file, and after how many others. */
export interface IngestionPosition {
  ingestionId: string
  order: number
}
