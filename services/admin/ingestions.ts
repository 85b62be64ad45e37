import { largestOf, smallestOf } from '../../domain/extremes.ts'
import type { FileStatus } from '../../domain/records/file.ts'
import type { Collections } from '../collections.ts'
import { listOpenFilesOfAny } from './store.ts'

export interface OpenIngestion {
  ingestion_id: string
  user_id: string
  assistant_id: string
  files: number
  bytes: number
  by_status: Partial<Record<FileStatus, number>>
  /** When its first file arrived, and when it last made progress. */
  created_at: Date
  updated_at: Date
}

const filesRead = 10_000
const ingestionsShown = 100

/** The ingestions under way; those without progress for the longest time come first. File names are not read. */
export async function openIngestions(collections: Pick<Collections, 'files'>): Promise<OpenIngestion[]> {
  const open = await listOpenFilesOfAny(collections, filesRead)
  const ingestions = [...Map.groupBy(open, (file) => file.ingestion_id)].flatMap(([ingestion_id, group]) => {
    const [first] = group
    if (first === undefined) return []
    const byStatus = Map.groupBy(group, (file) => file.status)
    return [
      {
        ingestion_id,
        user_id: first.user_id,
        assistant_id: first.assistant_id,
        files: group.length,
        bytes: group.reduce((sum, file) => sum + file.size, 0),
        by_status: Object.fromEntries([...byStatus].map(([status, members]) => [status, members.length])),
        created_at: new Date(smallestOf(group.map((file) => file.created_at.getTime()))),
        updated_at: new Date(largestOf(group.map((file) => file.updated_at.getTime()))),
      },
    ]
  })
  return ingestions.toSorted((a, b) => a.updated_at.getTime() - b.updated_at.getTime()).slice(0, ingestionsShown)
}
