import { describe, expect, it } from 'vitest'
import { deletionContract } from '../../domain/contracts/deletion.ts'
import { fillEstate, fingerprint, tracesOf } from '../support/estate.ts'
import { startDyingWorker } from '../support/processes.ts'
import { startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'
import { insertUser } from '../support/users.ts'

describe('kill -9 of the worker at every activity boundary of an account deletion', () => {
  const service = useStarted(() =>
    startService({ worker: false, env: { DELETION_WAIT_SECONDS: '0', WORKER_QUEUES: 'deletions' } }),
  )

  it('leaves nothing, and does not affect other users', async () => {
    const [user, other] = [
      await fillEstate(service, await insertUser(service)),
      await fillEstate(service, await insertUser(service)),
    ]
    const before = await fingerprint(service, other)
    expect((await user.call('DELETE', '/auth/delete-user', { email_confirmation: user.email })).status).toBe(202)
    const handle = service.temporal.workflow.getHandle(deletionContract.id({ kind: 'account', id: user.userId }))

    let over = false
    const result = handle.result().finally(() => {
      over = true
    })
    let deaths = 0
    while (!over) {
      // The first life ends with its first step; each later one repeats the step that was lost and ends with the next.
      const worker = await startDyingWorker(service.env, deaths === 0 ? 1 : 2)
      await Promise.race([worker.exited, result])
      if (!over) deaths += 1
      await worker.kill()
    }
    expect(await result).toMatchObject({ outcome: 'deleted' })
    expect(deaths).toBeGreaterThanOrEqual(5)
    expect(await tracesOf(service, user)).toEqual([])
    expect(await fingerprint(service, other)).toBe(before)
    expect(await service.collections.receipts.findOne({ subject_id: user.userId }).lean()).toMatchObject({
      status: 'complete',
      found: { threads: 4, assistants: 2, vector_stores: 2, projects: 2, users: 1, files: 6 },
      left: { threads: 0, assistants: 0, projects: 0, users: 0, files: 0 },
    })
  }, 180_000)
})
