import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { apiClient } from '../support/api-client.ts'
import { fillEstate, fingerprint, tracesOf } from '../support/estate.ts'
import { eventually } from '../support/eventually.ts'
import { mailsTo } from '../support/mailbox.ts'
import { startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'
import { goodPassword, insertUser } from '../support/users.ts'

describe('deletion', () => {
  const service = useStarted(() => startService())

  const counterOf = async (userId: string) => (await service.collections.users.findById(userId).lean())?.thread_counter

  it('removes a thread with its history, once, and decrements the quota counter', async () => {
    const user = await fillEstate(service, await insertUser(service))
    const [threadId = '', publicThreadId = ''] = user.threads
    expect(await counterOf(user.userId)).toBe(2)
    const answers = await Promise.all([1, 2, 3].map(() => user.call('DELETE', `/threads/${threadId}`)))
    expect(answers.map((answer) => answer.status)).toContain(200)
    expect(answers.every((answer) => answer.status === 200 || answer.status === 404)).toBe(true)
    const done = answers.find((answer) => answer.status === 200)
    expect(done?.body).toEqual({ deleted: true, message: expect.any(String), receipt_id: expect.any(String) })
    expect((await user.call('GET', `/threads/${threadId}`)).status).toBe(404)
    expect((await user.call('DELETE', `/threads/${threadId}`)).status).toBe(404)
    expect(
      await tracesOf(service, { ids: [threadId, user.runs[0] ?? ''], assistants: [], runs: user.runs.slice(0, 1) }),
    ).toEqual([])
    expect(await counterOf(user.userId)).toBe(1)
    await user.call('DELETE', `/threads/${publicThreadId}`)
    expect(await counterOf(user.userId)).toBe(1)
    const receipt = await user.call('GET', `/receipts/${done?.body.receipt_id}`)
    expect(receipt.body).toMatchObject({
      kind: 'thread',
      subject_id: threadId,
      status: 'complete',
      found: { threads: 1, checkpoints: 1, runs: 1, tool_calls: 1, run_streams: 2 },
    })
    expect(new Set(Object.values(receipt.body.left))).toEqual(new Set([0]))
    const other = await insertUser(service)
    expect((await other.call('GET', `/receipts/${done?.body.receipt_id}`)).status).toBe(404)
  })

  it('removes an assistant with its knowledge and public threads; private threads only lose the reference', async () => {
    const user = await fillEstate(service, await insertUser(service))
    const [assistantId = ''] = user.assistants
    const answer = await user.call('DELETE', `/assistants/${assistantId}`)
    expect(answer).toMatchObject({ status: 200, body: { deleted: true } })
    const [kept = '', publicThread = ''] = user.threads
    expect((await user.call('GET', `/threads/${kept}`)).body).toMatchObject({ assistant_id: null })
    expect((await user.call('GET', `/threads/${publicThread}`)).status).toBe(404)
    const receipt = await user.call('GET', `/receipts/${answer.body.receipt_id}`)
    expect(receipt.body.found).toMatchObject({ assistants: 1, files: 1, chunks: 1, vectors: 1, blobs: 1, threads: 1 })
    expect(await service.api.infra.knowledge.vectors.count(assistantId)).toBe(0)
    expect((await user.call('DELETE', `/assistants/${assistantId}`)).status).toBe(404)
    expect((await user.call('GET', '/assistants/')).body).toEqual([])
  })

  it('requires a confirmation for a project that is not empty, then deletes it with its contents and nothing else', async () => {
    const user = await fillEstate(service, await insertUser(service))
    const path = `/projects/${user.secondProjectId}`
    const asked = await user.call('DELETE', path)
    expect(asked).toMatchObject({
      status: 200,
      body: {
        project_id: user.secondProjectId,
        deleted: false,
        requires_confirmation: true,
        assistants: 1,
        threads: 2,
      },
    })
    expect((await user.call('GET', path)).status).toBe(200)
    const done = await user.call('DELETE', `${path}?confirm=true`)
    expect(done).toMatchObject({
      status: 200,
      body: { deleted: true, requires_confirmation: false, assistants: 1, threads: 2 },
    })
    expect((await user.call('GET', path)).status).toBe(404)
    const inside = [user.secondProjectId, ...user.assistants.slice(1), ...user.threads.slice(2), ...user.runs.slice(2)]
    expect(
      await tracesOf(service, { ids: inside, assistants: user.assistants.slice(1), runs: user.runs.slice(2) }),
    ).toEqual([])
    expect((await user.call('GET', '/assistants/')).body).toHaveLength(1)
    expect(await counterOf(user.userId)).toBe(1)
    const { body: empty } = await user.call('POST', '/projects/', { name: 'second' })
    expect((await user.call('DELETE', `/projects/${empty.project_id}`)).body).toMatchObject({ deleted: true })
  })

  it('removes an account from every store, and no data of others', async () => {
    const [user, other] = [
      await fillEstate(service, await insertUser(service)),
      await fillEstate(service, await insertUser(service)),
    ]
    const before = await fingerprint(service, other)
    expect((await user.call('DELETE', '/auth/delete-user', { email_confirmation: other.email })).status).toBe(400)
    expect((await user.call('DELETE', '/auth/delete-user', {})).status).toBe(422)
    const done = await user.call('DELETE', '/auth/delete-user', { email_confirmation: user.email.toUpperCase() })
    expect(done).toMatchObject({ status: 200, body: { deleted: true } })
    expect(await tracesOf(service, user)).toEqual([])
    expect(await fingerprint(service, other)).toBe(before)

    const receipt = await user.call('GET', `/receipts/${done.body.receipt_id}`)
    expect(receipt.body).toMatchObject({ kind: 'account', subject_id: user.userId, status: 'complete' })
    // There is no payment provider, so that nothing was cancelled.
    // Nothing of the estate is paid for, renewed, or shared with others.
    const { subscriptions, temporal_refreshes: refreshes, ...rest } = receipt.body.found
    const { handed_over_projects: given, runs_in_chats_of_others: elsewhere, ...stores } = rest
    expect([subscriptions, refreshes, given, elsewhere]).toEqual([0, 0, 0, 0])
    expect(Object.keys(stores).filter((name) => stores[name] === 0)).toEqual([])
    expect(new Set(Object.values(receipt.body.left))).toEqual(new Set([0]))
    expect(await service.collections.users.exists({ _id: user.userId })).toBeNull()
    const [mail, ...more] = await mailsTo(user.email)
    expect(mail?.subject).toBe('Your account is deleted')
    expect(more).toEqual([])
    expect(mail?.text).not.toMatch(/\d|http/)
    const again = await apiClient(service.url).call('POST', '/auth/signup', {
      email: user.email,
      password: goodPassword,
    })
    expect(again.status).toBe(200)

    expect((await user.call('GET', '/assistants/')).body).toEqual([])
    expect((await user.call('GET', '/threads/')).body.total).toBe(0)
    for (const id of user.threads) expect((await user.call('GET', `/threads/${id}`)).status).toBe(404)
    expect(await service.collections.users.findById(user.userId).lean()).toMatchObject({ thread_counter: 0 })
    expect((await service.collections.users.findById(user.userId).lean())?.email).toBeUndefined()
  })

  it('of an account is joined by a repeated request while it is under way', async () => {
    const user = await insertUser(service)
    await service.collections.users.updateOne({ _id: user.userId }, { $set: { deleting: true } })
    expect((await user.call('GET', '/auth/me')).status).toBe(403)
    const joined = await user.call('DELETE', '/auth/delete-user', { email_confirmation: user.email })
    expect(joined).toMatchObject({ status: 200, body: { deleted: true } })
  })

  it('removes records that are created while it runs', async () => {
    const user = await insertUser(service, { threadMax: 1000 })
    const { body: project } = await user.call('POST', '/projects/', { name: 'busy' })
    const pinned = apiClient(
      service.url,
      await service.api.services.tokens.sign({ user_id: user.userId, project_id: project.project_id }),
    )
    const { body: assistant } = await pinned.call('POST', '/assistants/', { name: 'A' })
    const { body: thread } = await pinned.call('POST', '/threads/', {})
    const made: string[] = [assistant.assistant_id, thread.thread_id]
    let over = false
    const keepCreating = async (create: () => Promise<string | undefined>) => {
      while (!over) {
        const id = await create()
        if (id !== undefined) made.push(id)
      }
    }
    const upload = async () => {
      const form = new FormData()
      form.append('files', new Blob(['words to keep']), 'a.txt')
      await user.call('POST', `/assistants/${assistant.assistant_id}/files?wait=false`, form)
      return undefined
    }
    const writers = [
      ...Array.from({ length: 3 }, () =>
        keepCreating(async () => (await pinned.call('POST', '/threads/', {})).body.thread_id),
      ),
      keepCreating(async () => (await pinned.call('POST', '/assistants/', { name: 'more' })).body.assistant_id),
      keepCreating(async () => (await pinned.call('PUT', `/threads/${newId()}`, {})).body.thread_id),
      keepCreating(async () => {
        await pinned.call('POST', `/threads/${thread.thread_id}/state`, {
          values: [{ type: 'human', content: 'late' }],
        })
        return undefined
      }),
      keepCreating(upload),
    ]
    const deleteWhenBusy = async () => {
      try {
        await eventually('enough to be made', () => made.length > 12)
        return await user.call('DELETE', `/projects/${project.project_id}?confirm=true`)
      } finally {
        over = true
        await Promise.all(writers)
      }
    }
    const done = await deleteWhenBusy()
    expect(done).toMatchObject({ status: 200, body: { deleted: true } })
    const traces = await tracesOf(service, { ids: [project.project_id, ...made], assistants: made, runs: [] })
    expect(traces).toEqual([])
    expect(await counterOf(user.userId)).toBe(0)
  })

  it('returns 202 while it continues, and the receipt shows its end', async () => {
    const slow = await startService({ env: { DELETION_WAIT_SECONDS: '0' }, worker: false })
    try {
      const user = await insertUser(slow)
      const { body: thread } = await user.call('POST', '/threads/', {})
      const answer = await user.call('DELETE', `/threads/${thread.thread_id}`)
      expect(answer).toMatchObject({ status: 202, body: { deleted: false } })
    } finally {
      await slow.close()
    }
  })
})
