import type { Settings } from '../infra/config.ts'
import { createKnowledge } from '../infra/knowledge.ts'
import type { Database } from '../infra/mongo/connect.ts'
import { createSecretBox } from '../services/secrets.ts'
import { createArchiveMaintenance } from '../services/threads/archived/maintenance.ts'
import { createArchivedThreads } from '../services/threads/archived/open.ts'

/** What scripts do with all archived threads; they write failures to the standard error. */
export function composeArchiveMaintenance(settings: Settings, database: Database) {
  const { blobs, close } = createKnowledge(settings, database, fetch)
  const secretBox = createSecretBox(settings.secretsKey, settings.secretsKeyPrevious)
  const onError = (error: unknown) => console.error(error instanceof Error ? error.message : error)
  const stored = { collections: database.collections, blobs, secretBox }
  const archivedThreads = createArchivedThreads({ ...stored, transaction: database.transaction, settings, onError })
  const onFailure = (threadId: string, error: unknown) => {
    console.error(`thread ${threadId} stays as it is`)
    onError(error)
    process.exitCode = 1
  }
  return { ...createArchiveMaintenance({ ...stored, archivedThreads, onFailure }), close }
}
