import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { type StopRunsDeps, stopRuns } from '../../services/deletion/stop-runs.ts'
import { startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'

describe('waiting for the workflows of many threads', () => {
  const service = useStarted(() => startService({ worker: false }))

  it('polls each until it has ended, a few at a time', async () => {
    const since = new Date()
    const threadIds = Array.from({ length: 300 }, () => newId())
    const runs = service.api.infra.database.connection.collection<{ _id: string; thread_id: string }>('runs')
    await runs.insertMany(
      threadIds.map((threadId) => ({ _id: newId(), thread_id: threadId, status: 'success', finished_at: new Date() })),
    )
    const asked = new Map<string, number>()
    let underWay = 0
    let most = 0
    const workflows: StopRunsDeps['workflows'] = {
      state: async (_contract, key) => {
        const id = JSON.stringify(key)
        most = Math.max(most, ++underWay)
        await new Promise((resolve) => setImmediate(resolve))
        underWay--
        const times = (asked.get(id) ?? 0) + 1
        asked.set(id, times)
        return times < 3 ? { status: 'running' } : { status: 'completed', closedAt: undefined }
      },
      signal: async () => true,
      terminate: async () => {
        throw new Error('none has to be terminated')
      },
    }
    const { core } = service.api.platform
    await stopRuns({ ...core, workflows }, { userIds: [], projectIds: [], assistantIds: [], threadIds }, since)
    expect(asked.size).toBe(300)
    expect(new Set(asked.values())).toEqual(new Set([3]))
    expect(most).toBe(10)
  })
})
