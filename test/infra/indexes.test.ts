import { describe, expect, it } from 'vitest'
import { startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'

/** The order of each list that is read in parts. */
const lists: Record<string, object[]> = {
  assistants: [
    { project_id: 1, created_at: 1, _id: 1 },
    { public: 1, created_at: 1, _id: 1 },
  ],
  projects: [{ user_id: 1, created_at: 1, _id: 1 }],
  threads: [{ user_id: 1, project_id: 1, public: 1, updated_at: -1, _id: -1, deleting: 1 }],
  runs: [{ thread_id: 1, _id: 1 }],
  files: [
    { assistant_id: 1, created_at: 1, order: 1, _id: 1 },
    { ingestion_id: 1, order: 1, _id: 1 },
  ],
  users: [
    { verified: 1, created_at: 1, _id: 1, deleting: 1 },
    { last_active_at: 1, _id: 1, deleting: 1 },
  ],
  receipts: [{ subject_id: 1, created_at: -1, _id: -1 }],
}

describe('the indexes of the database', () => {
  const service = useStarted(() => startService({ worker: false }))

  const keysOf = async (collection: string) =>
    (await service.api.infra.database.connection.collection(collection).indexes()).map(({ key }) => key)

  it('cover the sort order of every list', async () => {
    for (const [collection, wanted] of Object.entries(lists))
      expect(await keysOf(collection)).toEqual(expect.arrayContaining(wanted))
  })
})
