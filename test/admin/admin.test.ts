import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deletionContract } from '../../domain/contracts/deletion.ts'
import { searchAttributeKey } from '../../domain/contracts/workflow-contract.ts'
import { newId } from '../../domain/ids.ts'
import { projectOwner } from '../../domain/knowledge/project-files.ts'
import { ensureOrphanSchedule, orphanScheduleId } from '../../infra/temporal/orphan-schedule.ts'
import { apiClient } from '../support/api-client.ts'
import { fillEstate, fingerprint, tracesOf } from '../support/estate.ts'
import { eventually } from '../support/eventually.ts'
import { type TestService, startService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'

const day = 86_400_000

describe('administration', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ env: { ORPHAN_SWEEP_CRON: '0 3 * * *' } })
  })
  afterAll(async () => {
    await service.temporal.schedule.getHandle(orphanScheduleId(service.settings.taskQueuePrefix)).delete()
    await service.close()
  })

  const admin = (method: string, path: string, query = '') =>
    apiClient(service.url).call(method, `${path}?admin_token=${service.settings.adminToken}${query}`)
  const age = (userId: string, days: number, verified = true) => {
    const then = new Date(Date.now() - days * day)
    return service.collections.users.updateOne(
      { _id: userId },
      { $set: { last_active_at: then, created_at: then, verified } },
    )
  }
  const isThere = async (userId: string) => (await service.collections.users.exists({ _id: userId })) !== null

  it('accepts only the admin token, which gives access to nothing else', async () => {
    const user = await insertUser(service)
    const routes = [
      ['GET', '/admin/system-stats'],
      ['GET', '/admin/inactive-users'],
      ['POST', '/admin/cleanup-inactive-users'],
      ['POST', '/admin/cleanup-unverified-users'],
      ['POST', '/admin/cleanup-orphans'],
      ['GET', `/admin/receipts/${newId()}`],
    ] as const
    for (const [method, path] of routes) {
      for (const query of [
        '',
        '?admin_token=',
        '?admin_token=wrong',
        `?admin_token=${user.token}`,
        '?admin_token=a&admin_token=b',
      ]) {
        expect((await user.call(method, `${path}${query}`)).status, `${method} ${path}${query}`).toBe(401)
      }
    }
    for (const headers of inHeaders('wrong')) {
      expect((await apiClient(service.url).call('GET', '/admin/system-stats', undefined, headers)).status).toBe(401)
    }
    const token = String(service.settings.adminToken)
    expect((await apiClient(service.url).call('GET', `/projects/?admin_token=${token}`)).status).toBe(401)
    expect((await apiClient(service.url, token).call('GET', '/projects/')).status).toBe(401)
  })

  it('accepts the admin token in the query or in either header', async () => {
    const token = String(service.settings.adminToken)
    const anybody = apiClient(service.url)
    for (const headers of inHeaders(token)) {
      expect((await anybody.call('GET', '/admin/system-stats', undefined, headers)).status).toBe(200)
    }
    expect((await anybody.call('GET', `/admin/system-stats?admin_token=${token}`)).status).toBe(200)
  })

  const inHeaders = (token: string): Record<string, string>[] => [
    { 'x-admin-token': token },
    { authorization: `Bearer ${token}` },
  ]

  it('returns counts of records', async () => {
    await fillEstate(service, await insertUser(service))
    const { status, body } = await admin('GET', '/admin/system-stats')
    expect(status).toBe(200)
    expect(body.files.total).toBeGreaterThanOrEqual(2)
    expect(body.runs.by_status.success).toBeGreaterThanOrEqual(4)
    expect(body.users.total).toBe(body.users.verified + body.users.unverified)
  })

  it('counts as public what others can read or use, those with a token too', async () => {
    const owner = await insertUser(service)
    const figure = async () => (await admin('GET', '/admin/system-stats')).body.assistants
    const before = await figure()
    const token = `a-public-token-${owner.userId}`
    const configs = [
      { public: true },
      { config: { 'type==agent/access_mode': 'public_token', 'type==agent/public_token': token } },
      { config: { 'type==agent/access_mode': 'public_no_auth' } },
      { public: true, config: { 'type==agent/access_mode': 'public_no_auth' } },
      { config: { 'type==agent/access_mode': 'authenticated' } },
      {},
    ]
    for (const config of configs) await owner.post('/assistants/', { name: 'Guide', ...config })
    expect(await figure()).toMatchObject({ public: before.public + 4 })
  })

  it('finds inactive users; a dry run changes nothing, and the clean-up deletes only them', async () => {
    const [old, recent] = [
      await fillEstate(service, await insertUser(service)),
      await fillEstate(service, await insertUser(service)),
    ]
    await age(old.userId, 120)
    await age(recent.userId, 60)
    const listed = await admin('GET', '/admin/inactive-users')
    expect(listed.body).toMatchObject({
      total: 1,
      min_days_old: 90,
      users: [{ user_id: old.userId, email: old.email }],
    })
    expect((await admin('GET', '/admin/inactive-users', '&min_days_old=30')).body.total).toBe(2)
    expect((await admin('GET', '/admin/inactive-users', '&min_days_old=x')).status).toBe(422)

    const [before, others] = [await fingerprint(service, old), await fingerprint(service, recent)]
    const dry = await admin('POST', '/admin/cleanup-inactive-users')
    expect(dry.body).toMatchObject({ dry_run: true, total: 1, users: [{ user_id: old.userId }] })
    expect(await resultOf(dry.body.workflow_id)).toMatchObject({ found: 1, deleted: 0 })
    expect(await fingerprint(service, old)).toBe(before)

    const real = await admin('POST', '/admin/cleanup-inactive-users', '&dry_run=false')
    expect(real.body).toMatchObject({ dry_run: false, total: 1 })
    expect(await resultOf(real.body.workflow_id)).toMatchObject({ found: 1, deleted: 1, failed: 0 })
    expect(await tracesOf(service, old)).toEqual([])
    expect(await fingerprint(service, recent)).toBe(others)
    const receipt = await service.collections.receipts.findOne({ subject_id: old.userId }).lean()
    expect((await admin('GET', `/admin/receipts/${receipt?._id}`)).body).toMatchObject({
      status: 'complete',
      kind: 'account',
    })

    const found = await eventually('the workflow in the list by user', async () => {
      const query = `UserId = "${old.userId}"`
      for await (const { workflowId } of service.temporal.workflow.list({ query })) return workflowId
      return undefined
    })
    expect(found).toBe(deletionContract.id({ kind: 'account', id: old.userId }))
    const cleanup = await service.temporal.workflow.getHandle(real.body.workflow_id).describe()
    expect(cleanup.typedSearchAttributes.get(searchAttributeKey('CleanupKind'))).toBe('inactive-users')
  })

  it('deletes unverified accounts from a day after sign-up on', async () => {
    const [stale, fresh] = [await insertUser(service), await insertUser(service)]
    await age(stale.userId, 2, false)
    await age(fresh.userId, 0, false)
    const dry = await admin('POST', '/admin/cleanup-unverified-users')
    expect(dry.body.users.map((user: { user_id: string }) => user.user_id)).toEqual([stale.userId])
    const real = await admin('POST', '/admin/cleanup-unverified-users', '&dry_run=false')
    await resultOf(real.body.workflow_id)
    expect([await isThere(stale.userId), await isThere(fresh.userId)]).toEqual([false, true])
  })

  it('removes orphans and finishes interrupted deletions', async () => {
    const kept = await fillEstate(service, await insertUser(service))
    const [ownerless, stuck] = [
      await fillEstate(service, await insertUser(service)),
      await fillEstate(service, await insertUser(service)),
    ]
    const { users, projects, threads, assistants, files } = service.collections
    await users.deleteOne({ _id: ownerless.userId })
    await projects.updateMany({ user_id: ownerless.userId }, { $set: { created_at: new Date(Date.now() - day) } })
    await projects.deleteOne({ _id: ownerless.secondProjectId })
    // Files younger than an hour may be uploads that are under way.
    await files.updateMany(
      { assistant_id: projectOwner(ownerless.secondProjectId) },
      { $set: { updated_at: new Date(Date.now() - day) } },
    )
    await threads.deleteOne({ _id: ownerless.threads[0] })
    await assistants.deleteOne({ _id: ownerless.assistants[0] })
    await users.updateOne({ _id: stuck.userId }, { $set: { deleting: true } })
    const [before, others] = [await fingerprint(service, ownerless), await fingerprint(service, kept)]

    const dry = await admin('POST', '/admin/cleanup-orphans')
    expect(dry.body).toMatchObject({ dry_run: true, complete: true })
    expect(dry.body.found).toBeGreaterThanOrEqual(5)
    expect(dry.body.orphans).toMatchObject({ checkpoints: 1, runs: 1, tool_calls: 1, feedback: 1 })
    expect(await fingerprint(service, ownerless)).toBe(before)

    // The first sweep takes the owners; what that leaves without one is taken by it too.
    const real = await admin('POST', '/admin/cleanup-orphans', '&dry_run=false')
    expect(await resultOf(real.body.workflow_id)).toMatchObject({ failed: 0 })
    const { passwordResets, pendingPasswords, programLogins } = service.collections
    expect(await tracesOf(service, stuck)).toEqual([])
    // Codes and logins of a user who is gone end by themselves, and so do files younger than an hour.
    await passwordResets.deleteMany({ user_id: ownerless.userId })
    await pendingPasswords.deleteMany({ user_id: ownerless.userId })
    await programLogins.deleteMany({ user_id: ownerless.userId })
    const left = await tracesOf(service, {
      ...ownerless,
      assistants: [],
      runs: [],
      ids: ownerless.ids.filter((id) => id !== ownerless.userId && id !== ownerless.assistants[0]),
    })
    expect(left).toEqual([])
    expect(await fingerprint(service, kept)).toBe(others)
  })

  it('creates, updates and removes the schedule of the sweep by the settings', async () => {
    const handle = service.temporal.schedule.getHandle(orphanScheduleId(service.settings.taskQueuePrefix))
    const { action, spec } = await handle.describe()
    expect(action).toMatchObject({ type: 'startWorkflow', workflowType: 'cleanupWorkflow' })
    expect(JSON.stringify(spec)).toContain('calendars')
    const prefix = `${newId()}-`
    for (const cron of ['0 4 * * *', '0 5 * * *', undefined, undefined]) {
      await ensureOrphanSchedule(service.temporal, { orphanSweepCron: cron, taskQueuePrefix: prefix })
    }
    await expect(service.temporal.schedule.getHandle(orphanScheduleId(prefix)).describe()).rejects.toThrow()
  })

  const resultOf = (workflowId: string) => service.temporal.workflow.getHandle(workflowId).result()
})

describe('administration without a configured token', () => {
  it('refuses every request', async () => {
    const service = await startService({ worker: false, env: { ADMIN_TOKEN: '' } })
    try {
      for (const query of ['', '?admin_token=', '?admin_token=undefined', '?admin_token=never']) {
        expect((await apiClient(service.url).call('GET', `/admin/system-stats${query}`)).status).toBe(401)
      }
    } finally {
      await service.close()
    }
  })
})
