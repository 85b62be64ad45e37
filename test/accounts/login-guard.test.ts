import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLoginGuard, loginFailureKey } from '../../services/accounts/login-guard.ts'
import { type TestService, startService } from '../support/service.ts'
import { newEmail } from '../support/users.ts'

const slowedDown = expect.objectContaining({ code: 'too_many_requests' })

describe('the limit on wrong passwords', () => {
  let service: TestService
  let guard: ReturnType<typeof createLoginGuard>
  beforeAll(async () => {
    service = await startService({ worker: false })
    guard = createLoginGuard(service.collections)
  })
  afterAll(() => service.close())

  /** How many of `count` failures at once were counted as one of the ten. */
  async function failAtOnce(email: string, count: number): Promise<number> {
    const results = await Promise.allSettled(Array.from({ length: count }, () => guard.recordFailure(email)))
    const refusals = results.filter((result) => result.status === 'rejected').map((result): unknown => result.reason)
    expect(refusals).toEqual(refusals.map(() => slowedDown))
    return count - refusals.length
  }

  it('counts exactly ten of many simultaneous first failures', async () => {
    for (let round = 0; round < 10; round++) expect(await failAtOnce(newEmail(), 30)).toBe(10)
  })

  it('refuses the right password after ten wrong ones', async () => {
    const email = newEmail()
    await failAtOnce(email, 9)
    await guard.recordSuccess(email)
    await failAtOnce(email, 9)
    await expect(guard.refuseIfSlowedDown(email)).resolves.toBeUndefined()
    await guard.recordFailure(email)
    await expect(guard.refuseIfSlowedDown(email)).rejects.toEqual(slowedDown)
    await expect(guard.recordSuccess(email)).rejects.toEqual(slowedDown)
    await expect(guard.recordSuccess(newEmail())).resolves.toBeUndefined()
  })

  it('resets when the window ends, and stores no address', async () => {
    const email = newEmail()
    await failAtOnce(email, 12)
    const { loginFailures } = service.collections
    const over = { $set: { window_ends: new Date(Date.now() - 1) } }
    await loginFailures.updateOne({ _id: loginFailureKey(email) }, over)
    await expect(guard.refuseIfSlowedDown(email)).resolves.toBeUndefined()
    expect(await failAtOnce(email, 12)).toBe(10)
    expect(JSON.stringify(await loginFailures.find().lean())).not.toContain(email)
  })
})
