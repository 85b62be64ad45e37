import { expect, it } from 'vitest'
import { conversation } from '../runs/support.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

const secret = 'only-in-arguments-4711'
const service = useSharedService({
  respond: ({ body: { messages } }) =>
    messages.at(-1)?.role === 'user' && messages.at(-1)?.content === 'Look it up'
      ? {
          toolCalls: [
            { id: 'c', name: 'http_request', arguments: { method: 'GET', url: `http://127.0.0.1:9/${secret}` } },
          ],
        }
      : { text: 'Until three (guide.pdf, page 3).' },
})
const stranger = () => apiClient(service.url)

it('shows a thread as it was, by a link that its owner makes, brings up to date, replaces and revokes', async () => {
  const talk = await conversation(service, { 'type==agent/tools': [{ type: 'http_request' }] })
  const { call, get, post, put } = talk.client
  const path = `/threads/${talk.threadId}/share`
  expect((await call('GET', path)).status).toBe(404)
  expect((await call('PUT', path)).status).toBe(404)
  await post(`/threads/${talk.threadId}/state`, { values: [{ type: 'system', content: 'be-secret' }] })
  await talk.stream('Look it up')
  const made = await post(path)
  expect(made).toMatchObject({ thread_id: talk.threadId, name: 'Talk', views: 0, last_viewed_at: null })
  expect(made.url).toMatch(new RegExp(`/s/${made.token}$`))
  await talk.stream('And later?')

  const seen = await stranger().call('GET', `/shared/${made.token}`)
  expect(seen.headers.get('x-robots-tag')).toContain('noindex')
  expect(seen.headers.get('cache-control')).toBe('no-store')
  expect(seen.body).toMatchObject({
    name: 'Talk',
    before: null,
    messages: [
      { role: 'user', content: 'Look it up', files: [] },
      { role: 'assistant', content: 'Until three (guide.pdf, page 3).' },
    ],
  })
  for (const hidden of [secret, 'be-secret', talk.client.userId, talk.assistantId])
    expect(seen.text).not.toContain(hidden)
  const page = await stranger().fetch('GET', `/s/${made.token}`)
  expect(page.headers.get('x-robots-tag')).toContain('noindex')
  await page.text()

  await put(path)
  expect((await stranger().get(`/shared/${made.token}`)).messages).toHaveLength(4)
  const listed = await get('/shared/')
  expect(listed).toMatchObject([{ thread_id: talk.threadId, name: 'Talk', views: 2 }])
  expect(JSON.stringify([listed, await get(path)])).not.toContain(made.token)
  const stored = JSON.stringify(await service.collections.shares.findById(talk.threadId).lean())
  expect(stored).not.toContain(made.token)

  const again = await post(path)
  expect((await stranger().call('GET', `/shared/${made.token}`)).status).toBe(404)
  expect((await stranger().call('GET', `/shared/${again.token}`)).status).toBe(200)
  expect((await call('DELETE', path)).status).toBe(200)
  expect((await call('DELETE', path)).status).toBe(404)
  expect((await stranger().call('GET', `/shared/${again.token}`)).status).toBe(404)
  const { entries } = await get('/user/audit')
  const actions = entries.map(({ action }: { action: string }) => action)
  for (const action of ['threads.share.create', 'threads.share.update', 'threads.share.delete'])
    expect(actions).toContain(action)
})

it('goes with its thread and with the account, and cannot be made for what a public caller said', async () => {
  const user = await insertUser(service)
  const { thread_id: id } = await user.post('/threads/', { name: 'Mine' })
  const { token } = await user.post(`/threads/${id}/share`)
  const open = () => stranger().call('GET', `/shared/${token}`)
  expect((await open()).body).toMatchObject({ name: 'Mine', messages: [] })
  const { users, shares, threads } = service.collections
  await users.updateOne({ _id: user.userId }, { $set: { suspended_at: new Date() } })
  expect((await open()).status).toBe(404)
  await users.updateOne({ _id: user.userId }, { $unset: { suspended_at: 1 } })
  expect((await open()).status).toBe(200)
  await user.call('DELETE', `/threads/${id}`)
  expect((await open()).status).toBe(404)
  await eventually('the deletion', async () => (await shares.countDocuments({ thread_id: id })) === 0)

  const { thread_id: foreign } = await user.post('/threads/', { name: 'Of a visitor' })
  await threads.updateOne({ _id: foreign }, { $set: { public: true } })
  expect((await user.call('POST', `/threads/${foreign}/share`)).status).toBe(403)
  for (const wrong of ['x', 'x'.repeat(300), '%00', '{"$ne":1}'])
    expect((await stranger().call('GET', `/shared/${encodeURIComponent(wrong)}`)).status).toBeGreaterThanOrEqual(400)
})
