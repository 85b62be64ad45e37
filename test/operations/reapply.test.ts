import { expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { createReapplyDeletions } from '../../services/backup/reapply-deletions.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

const service = useSharedService()

it('what was imported again after its deletion is spared, however old it was', async () => {
  const { userId, projectId } = await insertUser(service)
  const started: string[] = []
  const reapply = createReapplyDeletions({
    collections: service.collections,
    workflows: {
      start: async () => void started.push('deletion'),
      result: async () => ({ status: 'completed' }) as never,
    },
    waitMs: 1,
  })
  const old = new Date('2020-01-01T00:00:00Z')
  const earlier = { created_at: old, updated_at: old, last_outcome: 'none' as const }
  const thread = { userId, projectId, name: 'T', metadataJson: '{}', public: false }
  const imported = await service.api.services.createThread({ id: newId(), ...thread, earlier })
  const receipt = (minutes: number) => ({
    _id: newId(),
    kind: 'thread' as const,
    subject_id: imported._id,
    user_id: userId,
    created_at: new Date(Date.now() + minutes * 60_000),
  })
  expect(await reapply(receipt(-1))).toBe('newer')
  expect(started).toEqual([])
  expect(await reapply(receipt(1))).toBe('deleted')
})
