import { describe, expect, it } from 'vitest'
import { joinProject } from '../projects/joined.ts'
import { conversation } from '../runs/support.ts'
import { apiClient } from '../support/api-client.ts'
import { archiveOf, importInto } from '../support/archives.ts'
import { useModelService } from '../support/model-service.ts'
import { type TestUser, insertUser } from '../support/users.ts'

interface Found {
  thread: { thread_id: string; name: string }
  message_id: string
  message_type: string
  snippet: string
  marks: { start: number; end: number }[]
}

const service = useModelService({ respond: () => ({ text: 'The ferry to Čačak leaves at noon. 東京都の天気。' }) })

async function threadWith(user: TestUser, name: string, ...contents: string[]): Promise<string> {
  const { thread_id: id } = await user.post('/threads/', { name })
  for (const content of contents)
    await user.post(`/threads/${id}/state`, { values: [{ type: 'human', content, id: `${name}-${content.length}` }] })
  return id
}

const find = async (
  user: Pick<TestUser, 'get'>,
  q: string,
  more = '',
): Promise<{ found: Found[]; next: number | null }> => user.get(`/search/messages?q=${encodeURIComponent(q)}${more}`)
const inProject = async (user: TestUser, projectId: string) =>
  apiClient(service.url, (await user.get(`/projects/${projectId}`)).jwt_token)
const namesOf = ({ found }: { found: Found[] }) => found.map(({ thread }) => thread.name)
const marked = ({ snippet, marks }: Found) => marks.map(({ start, end }) => snippet.slice(start, end))

describe('a search in messages', () => {
  it('finds what people and models wrote by words in any order, and the beginning of the last', async () => {
    const talk = await conversation(service)
    await talk.stream('When does the boat go, please?')
    const { found } = await find(talk.client, 'LEAVES cacak fer')
    expect(found).toMatchObject([{ thread: { thread_id: talk.threadId }, message_type: 'AIMessage' }])
    const [answer] = (await talk.messages()).slice(-1)
    expect(found[0]?.message_id).toBe(answer.data.id)
    expect(found.flatMap(marked)).toEqual(['ferry', 'Čačak', 'leaves'])
    expect((await find(talk.client, 'boat')).found.flatMap(marked)).toEqual(['boat'])
    for (const words of ['京都', '東', '天気']) expect((await find(talk.client, words)).found).toHaveLength(1)
    for (const words of ['boat ferry', 'fer leaves', 'fe', 'the', '...', 'eaves', '{"$gt":""}'])
      expect((await find(talk.client, words)).found, words).toEqual([])
    await talk.client.call('DELETE', `/threads/${talk.threadId}`)
    expect((await find(talk.client, 'ferry')).found).toEqual([])
  })

  it('shows each thread once, newest first, in pages, and only the own of the project', async () => {
    const [ada, other] = [await insertUser(service), await insertUser(service)]
    for (const name of ['one', 'two', 'three', 'four', 'five'])
      await threadWith(ada, name, 'An old zeppelin', `A zeppelin ${name}, and ${'much more text. '.repeat(30)}`)
    await threadWith(ada, 'none', 'A zebra')
    await threadWith(other, 'hidden', 'A zeppelin')
    expect(namesOf(await find(ada, 'zeppelin'))).toEqual(['five', 'four', 'three', 'two', 'one'])
    const first = await find(ada, 'zeppel', '&limit=2')
    const second = await find(ada, 'zeppel', `&limit=3&before=${first.next}`)
    expect(namesOf(first)).toEqual(['five', 'four'])
    expect(namesOf(second)).toContain('three')
    expect(first.found[0]?.snippet.length).toBeLessThan(300)
    expect(namesOf(await find(other, 'zeppelin'))).toEqual(['hidden'])
    const { project_id: projectId } = await ada.post('/projects/', { name: 'Second' })
    expect(await find(await inProject(ada, projectId), 'zeppelin')).toEqual({ found: [], next: null })
  })

  it('finds what an archive brings, and nothing that was deleted', async () => {
    const [source, target] = [await insertUser(service), await insertUser(service)]
    const threadId = await threadWith(source, 'kept', 'A quetzal in the garden')
    await source.put(`/threads/${threadId}`, { pinned: true, archived: true, tags: ['birds'] })
    await importInto(service, target, await archiveOf(service, source))
    const projects = await target.get('/projects/')
    const imported = projects.find(({ name }: { name: string }) => name.endsWith('(imported)'))
    const there = await inProject(target, imported.project_id)
    expect(namesOf(await find(there, 'quetzal'))).toEqual(['kept'])
    expect((await there.get('/threads/?archived=true&pinned=true&tag=birds')).threads).toMatchObject([{ name: 'kept' }])

    const { checkpoints } = service.collections
    const { message_id: messageId } = (await find(source, 'quetzal')).found[0] ?? {}
    expect((await source.call('DELETE', `/v1/threads/${threadId}/messages/${messageId}`)).status).toBe(200)
    expect((await find(source, 'quetzal')).found).toEqual([])
    const entries = await checkpoints.find({ thread_id: threadId }).select('+search').lean()
    expect(JSON.stringify(entries)).not.toContain('quetzal')
  })
})

describe('pins and tags of threads', () => {
  it('filter the list, and leave a thread at its place', async () => {
    const user = await insertUser(service)
    const [a = '', b = '', c = ''] = await Promise.all(['a', 'b', 'c'].map((name) => threadWith(user, name)))
    const before = await user.get(`/threads/${a}`)
    expect(before).toMatchObject({ pinned: false, tags: [] })
    const tags = [' Work ', 'work', '', 'Über  uns', '$where']
    const changed = await user.put(`/threads/${a}`, { pinned: true, tags })
    expect(changed).toMatchObject({ pinned: true, tags: ['Work', 'Über uns', '$where'], updated_at: before.updated_at })
    await user.put(`/threads/${b}`, { tags: ['Work'] })
    const listed = async (query: string) =>
      (await user.get(`/threads/?${query}`)).threads.map(({ thread_id: id }: { thread_id: string }) => id)
    expect(await listed('pinned=true')).toEqual([a])
    expect(new Set(await listed('tag=Work'))).toEqual(new Set([a, b]))
    expect(await listed('tag=Work&pinned=true')).toEqual([a])
    expect(await listed('tag=work')).toEqual([])
    expect(new Set(await listed('pinned=false'))).toEqual(new Set([a, b, c]))
    expect(await user.get('/tags/')).toEqual(['$where', 'Über uns', 'Work'])
    expect(await user.put(`/threads/${a}`, { pinned: false, tags: [] })).toMatchObject({ pinned: false, tags: [] })
    expect(await user.get('/tags/')).toEqual(['Work'])
    for (const wrong of [{ tags: Array.from({ length: 11 }, String) }, { tags: ['x'.repeat(41)] }, { pinned: 'yes' }])
      expect((await user.call('PUT', `/threads/${a}`, wrong)).status).toBe(422)
    const made = await user.post('/threads/', { name: 'd', pinned: true, tags: ['New'] })
    expect(made).toMatchObject({ pinned: true, archived: false, tags: ['New'] })
  })

  it('are found in a project that others use, too', async () => {
    const user = await insertUser(service)
    const [a = '', b = ''] = await Promise.all(['a', 'b'].map((name) => threadWith(user, name)))
    // As after a login: a chat that nobody has used, which no list shows.
    const home = { id: await threadWith(user, 'home'), made: true }
    await service.collections.projects.updateOne({ _id: user.projectId }, { $set: { default_thread: home } })
    const grace = await joinProject(service, user.projectId, 'member')
    await user.put(`/threads/${a}`, { archived: true })
    await user.put(`/threads/${b}`, { pinned: true, tags: ['Old'] })
    const listed = async (who: Pick<TestUser, 'get'>, query: string) =>
      (await who.get(`/threads/?${query}`)).threads.map(({ thread_id: id }: { thread_id: string }) => id)
    expect(await listed(user, 'archived=true')).toEqual([a])
    expect(await listed(user, 'pinned=true')).toEqual([b])
    expect(await listed(user, 'tag=Old')).toEqual([b])
    expect(await user.get('/tags/')).toEqual(['Old'])
    await user.put(`/threads/${a}`, { visibility: 'project' })
    expect(await listed(grace, 'archived=true')).toEqual([a])
    expect(await listed(grace, 'pinned=true')).toEqual([])
  })

  it('put threads aside, out of the list and its tags, and back', async () => {
    const user = await insertUser(service)
    const [a = '', b = ''] = await Promise.all(['a', 'b'].map((name) => threadWith(user, name)))
    const { thread_counter: used } = await user.get('/user/usage')
    const before = await user.put(`/threads/${a}`, { tags: ['Old'] })
    const aside = await user.put(`/threads/${a}`, { archived: true })
    expect(aside).toMatchObject({ archived: true, updated_at: before.updated_at })
    const listed = async (query: string) => {
      const { threads, total } = await user.get(`/threads/?${query}`)
      expect(total).toBe(threads.length)
      return threads.map(({ thread_id: id }: { thread_id: string }) => id)
    }
    expect(await listed('')).toEqual([b])
    expect(await listed('archived=false')).toEqual([b])
    expect(await listed('archived=true')).toEqual([a])
    expect(await listed('archived=true&tag=Old')).toEqual([a])
    expect(await user.get('/tags/')).toEqual([])
    // It is kept whole: it is read, found by its words, and counts.
    expect((await user.get(`/threads/${a}`)).archived).toBe(true)
    expect((await user.get('/user/usage')).thread_counter).toBe(used)
    expect(await user.put(`/threads/${a}`, { archived: false })).toMatchObject({ archived: false })
    expect(new Set(await listed(''))).toEqual(new Set([a, b]))
    expect(await user.get('/tags/')).toEqual(['Old'])
    expect((await user.call('PUT', `/threads/${a}`, { archived: 'yes' })).status).toBe(422)
  })
})
