import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { type AuditedAct, createAudit } from '../../services/audit/index.ts'
import { apiClient } from '../support/api-client.ts'
import { startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'
import { goodPassword, insertUser, signUpUser } from '../support/users.ts'

describe('the audit log', () => {
  const service = useStarted(() => startService({ env: { AUDIT_KEEP_DAYS: '30' } }))

  const admin = (method: string, path: string, body?: unknown) =>
    apiClient(service.url, service.env['ADMIN_TOKEN']).call(method, path, body)
  const actionsOf = (entries: any[]) => entries.map(({ actor, action, outcome }) => `${actor} ${action} ${outcome}`)

  it('shows users logins, refused logins, tokens, changes and deletions, with the client address', async () => {
    const user = await signUpUser(service)
    const other = await insertUser(service)
    const secret = `pt-${newId()}-${newId()}`
    await apiClient(service.url).call(
      'POST',
      '/auth/login',
      { email: user.email, password: 'wrong password' },
      { 'user-agent': 'curl/8.0\u00e9' },
    )
    const config = { 'type==agent/access_mode': 'public_token', 'type==agent/public_token': secret }
    const { assistant_id: aid } = await user.post('/assistants/', { name: 'Salaries', config })
    await user.post(`/assistants/${aid}/public-token`)
    await user.delete(`/assistants/${aid}`)
    const [project] = await user.get('/projects/')
    await user.get(`/projects/${project.project_id}`)
    await user.post('/user/change-password', { current_password: goodPassword, new_password: `${goodPassword}!` })

    const { entries, has_more: hasMore } = await user.get('/user/audit')
    expect(hasMore).toBe(false)
    expect(actionsOf(entries)).toEqual([
      'user users.changePassword done',
      'user projects.token done',
      'user assistants.delete done',
      'user assistants.publicToken.renew done',
      'user assistants.create done',
      'anonymous accounts.login refused',
      'user accounts.login done',
      'user accounts.verifyEmail done',
      'user accounts.signup done',
    ])
    expect(entries[5]).toMatchObject({ client: '127.0.0.1', user_agent: 'curl/8.0?', count: 1 })
    expect(entries[3].subjects).toEqual([aid])
    const logins = await user.get('/user/audit?action=accounts.login&limit=1')
    expect(actionsOf(logins.entries)).toEqual(['anonymous accounts.login refused'])
    expect(logins.has_more).toBe(true)
    const older = await user.get(`/user/audit?action=accounts.login&before=${logins.entries[0].entry_id}`)
    expect(actionsOf(older.entries)).toEqual(['user accounts.login done'])
    const either = await user.get('/user/audit?action=v1.assistants.delete,assistants.delete')
    expect(actionsOf(either.entries)).toEqual(['user assistants.delete done'])
    const ofUser = await admin('GET', `/admin/audit?user_id=${user.userId}&action=assistants.delete`)
    expect(actionsOf(ofUser.body.entries)).toEqual(['user assistants.delete done'])
    expect((await user.call('GET', '/user/audit?action=$ne')).status).toBe(422)
    const text = JSON.stringify(entries)
    for (const hidden of [secret, user.email, goodPassword, 'Salaries', user.token]) expect(text).not.toContain(hidden)
    expect(JSON.stringify(await other.get('/user/audit'))).not.toContain(user.userId)
    expect((await apiClient(service.url).call('GET', '/user/audit')).status).toBe(401)
  })

  it('shows actions of administrators to the user, without their address', async () => {
    const user = await insertUser(service)
    await admin('PUT', `/admin/users/${user.userId}/thread-max`, { thread_max: 5 })
    await admin('POST', `/admin/users/${user.userId}/suspend`, { reason: 'because of a secret tip' })
    await admin('POST', `/admin/users/${user.userId}/restore`)
    await admin('GET', `/admin/users?email=${user.email}`)
    const { entries } = await user.get('/user/audit')
    expect(actionsOf(entries)).toEqual([
      'admin admin.findUser done',
      'admin admin.restoreUser done',
      'admin admin.suspendUser done',
      'admin admin.setThreadMax done',
    ])
    expect(entries[0]).toMatchObject({ client: null, user_agent: null })
    expect(JSON.stringify(entries)).not.toContain('tip')
    const { body } = await admin('GET', `/admin/audit?user_id=${user.userId}`)
    expect(body.entries[0]).toMatchObject({ client: '127.0.0.1', user_id: user.userId })
  })

  it('shows administrators the whole log in pages, including wrong admin tokens', async () => {
    await apiClient(service.url, 'a-wrong-admin-token').call('GET', '/admin/system-stats')
    const { body: first } = await admin('GET', '/admin/audit?limit=2')
    expect(first.entries).toHaveLength(2)
    expect(first.has_more).toBe(true)
    const { body: second } = await admin('GET', `/admin/audit?limit=2&before=${first.entries[1].entry_id}`)
    const ids: string[] = [...first.entries, ...second.entries].map((entry: any) => entry.entry_id)
    expect(ids).toEqual(ids.toSorted((a, b) => a.localeCompare(b)).toReversed())
    const { body: all, text } = await admin('GET', '/admin/audit?limit=500')
    expect(actionsOf(all.entries)).toContain('anonymous admin.access refused')
    expect(text).not.toContain('a-wrong-admin-token')
    expect((await admin('GET', '/admin/audit?limit=501')).status).toBe(422)
  })

  it('counts identical actions within a short time as one entry, so that nobody can fill the log', async () => {
    const user = await signUpUser(service)
    const attempt = () =>
      apiClient(service.url).call('POST', '/auth/login', { email: user.email, password: 'wrong password' })
    await Promise.all(Array.from({ length: 6 }, attempt))
    const refused = await service.collections.auditEntries.find({ user_id: user.userId, outcome: 'refused' }).lean()
    // Two when the hour ends in between.
    expect(refused.length).toBeLessThanOrEqual(2)
    expect(refused.reduce((sum, entry) => sum + entry.count, 0)).toBe(6)
    const [entry] = refused
    expect(entry?.remove_at.getTime()).toBeLessThan(Date.now() + 31 * 86_400_000)
  })

  it('keeps a maximum number of entries of a user, and drops the oldest', async () => {
    const user = await insertUser(service)
    const { collections } = service
    const audit = createAudit({ collections, keepDays: 1, maxOfUser: 20 })
    for (let index = 0; index < 100; index++)
      await audit.record({
        actor: 'user',
        action: 'projects.update',
        outcome: 'done',
        subjects: [`${index}`],
        userId: user.userId,
      })
    const kept = await collections.auditEntries.find({ user_id: user.userId }).sort({ _id: 1 }).lean()
    expect(kept.length).toBe(20)
    expect(kept.at(-1)?.subjects).toEqual(['99'])
  })

  it('is deleted with the account, and stores nothing for a deleted one', async () => {
    const user = await insertUser(service)
    await user.post('/assistants/', { name: 'A' })
    expect(await service.collections.auditEntries.countDocuments({ user_id: user.userId })).toBe(1)
    const { receipt_id: receiptId } = await user.delete('/auth/delete-user', { email_confirmation: user.email })
    expect((await admin('GET', `/admin/receipts/${receiptId}`)).body.found.audit_entries).toBe(1)
    const act: AuditedAct = { actor: 'user', action: 'late', outcome: 'done', subjects: [] }
    await createAudit({ collections: service.collections, keepDays: 1 }).record({ ...act, userId: user.userId })
    expect(await service.collections.auditEntries.countDocuments({ user_id: user.userId })).toBe(0)
  })

  it('records no reads and no runs', async () => {
    const user = await insertUser(service)
    await user.get('/user/')
    await user.post('/threads/', {})
    await user.get('/threads/')
    expect((await user.get('/user/audit')).entries).toEqual([])
  })
})
