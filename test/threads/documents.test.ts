import { describe, expect, it } from 'vitest'
import { documentLimits } from '../../domain/records/document.ts'
import { joinProject } from '../projects/joined.ts'
import { archiveOf, importInto } from '../support/archives.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

const service = useSharedService()

async function withThread(thread: object = {}) {
  const owner = await insertUser(service)
  const { assistant_id: assistantId } = await owner.post('/assistants/', { name: 'A' })
  const { thread_id: id } = await owner.post('/threads/', { name: 'Plans', assistant_id: assistantId, ...thread })
  return { owner, assistantId, threadId: String(id), path: `/threads/${id}/documents` }
}

const page = { name: 'page.html', language: 'html', content: '<p>Ahoy</p>', base: 0 }

describe('documents of a thread', () => {
  it('keep their versions in order, with who wrote them', async () => {
    const { owner, path } = await withThread()
    expect(await owner.get(path)).toEqual([])
    const first = await owner.put(`${path}/d`, { ...page, message_id: 'm1' })
    expect(first).toMatchObject({ number: 1, made_by: 'answer', message_id: 'm1', size: 11 })
    const second = await owner.put(`${path}/d`, { ...page, name: ' harbour.html ', content: '<p>Åhoy</p>', base: 1 })
    expect(second).toMatchObject({ number: 2, made_by: 'person', message_id: null, size: 12 })
    expect(await owner.get(path)).toMatchObject([
      { document_id: 'd', name: 'harbour.html', language: 'html', versions: [first, second] },
    ])
    expect(await owner.get(`${path}/d?number=1`)).toMatchObject({ content: '<p>Ahoy</p>', name: 'page.html' })
    expect(await owner.get(`${path}/d?number=2`)).toMatchObject({ content: '<p>Åhoy</p>' })
    expect(await owner.get(`${path}/d`)).toMatchObject({ number: 2 })
    expect((await owner.call('GET', `${path}/d?number=3`)).status).toBe(404)
    expect((await owner.call('DELETE', `${path}/d`)).status).toBe(200)
    expect((await owner.call('DELETE', `${path}/d`)).status).toBe(404)
    expect(await owner.get(path)).toEqual([])
  })

  it('take of several changes at once one, and of an answer one version', async () => {
    const { owner, path } = await withThread()
    await owner.put(`${path}/d`, page)
    const changes = ['one', 'two', 'three'].map((content) =>
      owner.call('PUT', `${path}/d`, { ...page, content, base: 1 }),
    )
    const statuses = (await Promise.all(changes)).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 409, 409])
    const answers = await Promise.all(
      [2, 2, 2].map((base) => owner.put(`${path}/d`, { ...page, content: 'by the answer', message_id: 'm2', base })),
    )
    expect(answers.map(({ number }) => number)).toEqual([3, 3, 3])
    expect((await owner.get(path))[0].versions).toHaveLength(3)
  })

  it('are bounded in number, versions and bytes', async () => {
    const { owner, path, threadId } = await withThread()
    expect((await owner.call('PUT', `${path}/d`, { ...page, name: ' ' })).status).toBe(400)
    expect(
      (await owner.call('PUT', `${path}/d`, { ...page, content: 'ä'.repeat(documentLimits.bytes / 2 + 1) })).status,
    ).toBe(413)
    expect(
      (await owner.call('PUT', `${path}/d`, { ...page, content: 'x'.repeat(documentLimits.bytes + 1) })).status,
    ).toBe(422)
    await owner.put(`${path}/d`, { ...page, content: '\u0001'.repeat(documentLimits.bytes) })
    const now = new Date()
    const version = {
      user_id: owner.userId,
      thread_id: threadId,
      name: 'n',
      language: '',
      content: '',
      created_at: now,
    }
    const versions = Array.from({ length: documentLimits.versions - 1 }, (_, place) => ({
      ...version,
      _id: `${threadId}-${place}`,
      document_id: 'd',
      number: place + 2,
      size: 1,
    }))
    await service.collections.documents.insertMany(versions)
    await owner.put(`${path}/d`, { ...page, base: documentLimits.versions })
    const [{ versions: left }] = await owner.get(path)
    expect([left.length, left[0].number, left.at(-1).number]).toEqual([50, 2, 51])

    const others = Array.from({ length: documentLimits.documents - 1 }, (_, place) => ({
      ...version,
      _id: `${threadId}-other-${place}`,
      document_id: `other-${place}`,
      number: 1,
      size: place === 0 ? documentLimits.allBytes : 1,
    }))
    await service.collections.documents.insertMany(others)
    expect(await owner.call('PUT', `${path}/new`, page)).toMatchObject({
      status: 403,
      body: { detail: 'A chat has at most 20 documents. Delete one first.' },
    })
    expect(await owner.call('PUT', `${path}/d`, { ...page, base: 51 })).toMatchObject({
      status: 403,
      body: { detail: 'The documents of a chat take at most 16 MB. Delete one first.' },
    })
    await owner.delete(`${path}/other-0`)
    await owner.put(`${path}/d`, { ...page, base: 51 })
  })

  it('follow the rights on their thread', async () => {
    const { owner, assistantId, path: privatePath } = await withThread()
    const maker = await joinProject(service, owner.projectId, 'member')
    const other = await joinProject(service, owner.projectId, 'member')
    const viewer = await joinProject(service, owner.projectId, 'viewer')
    await owner.put(`${privatePath}/d`, page)
    for (const client of [maker, other, viewer]) expect((await client.call('GET', privatePath)).status).toBe(404)

    const thread = await maker.post('/threads/', { name: 'T', assistant_id: assistantId, visibility: 'project' })
    const path = `/threads/${thread.thread_id}/documents`
    await maker.put(`${path}/d`, page)
    expect(await viewer.get(path)).toMatchObject([{ versions: [{ author: { user_id: maker.userId } }] }])
    expect(await other.get(`${path}/d?number=1`)).toMatchObject({ content: page.content })
    for (const client of [other, viewer]) {
      expect((await client.call('PUT', `${path}/d`, { ...page, base: 1 })).status).toBe(403)
      expect((await client.call('DELETE', `${path}/d`)).status).toBe(403)
    }
    await maker.put(`/threads/${thread.thread_id}`, { project_access: 'continue' })
    await other.put(`${path}/d`, { ...page, base: 1 })
    expect((await viewer.call('PUT', `${path}/d`, { ...page, base: 2 })).status).toBe(403)
    expect(await maker.get(path)).toMatchObject([{ versions: [{}, { author: { user_id: other.userId } }] }])
  })

  it('go with their thread, and what an answer wrote goes with its message', async () => {
    const { owner, path, threadId } = await withThread()
    await owner.post(`/threads/${threadId}/state`, { values: [{ type: 'ai', content: 'code', id: 'm1' }] })
    await owner.put(`${path}/d`, { ...page, message_id: 'm1' })
    await owner.put(`${path}/d`, { ...page, content: 'by hand', base: 1 })
    expect((await owner.call('DELETE', `/v1/threads/${threadId}/messages/m1`)).status).toBe(200)
    expect(await owner.get(path)).toMatchObject([{ versions: [{ number: 2, made_by: 'person' }] }])
    await owner.delete(`/threads/${threadId}`)
    expect(await service.collections.documents.countDocuments({ thread_id: threadId })).toBe(0)
  })

  it('are in the archive of the account, and are imported once', async () => {
    const { owner, path } = await withThread()
    await owner.put(`${path}/d`, { ...page, message_id: 'm1' })
    await owner.put(`${path}/d`, { ...page, content: '', base: 1 })
    const archive = await archiveOf(service, owner)
    const heir = await insertUser(service)
    expect((await importInto(service, heir, archive)).body).toMatchObject({
      imported: { documents: 2 },
      refused: { documents: 0 },
    })
    expect((await importInto(service, heir, archive)).body).toMatchObject({ existing: { documents: 2 } })
    const found = await service.collections.threads.findOne({ user_id: heir.userId, name: 'Plans' }).lean()
    const imported = `/threads/${found?._id}/documents`
    expect(await heir.get(imported)).toMatchObject([
      {
        document_id: 'd',
        versions: [
          { number: 1, made_by: 'answer' },
          { number: 2, made_by: 'person' },
        ],
      },
    ])
    expect(await heir.get(`${imported}/d?number=1`)).toMatchObject({ content: page.content })
    expect((await heir.call('GET', path)).status).toBe(404)
  })
})
