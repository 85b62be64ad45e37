import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { newId } from '../../domain/ids.ts'
import { readRun } from '../runs/support.ts'
import { apiClient } from '../support/api-client.ts'
import { archiveOf, importInto, linesIn } from '../support/archives.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'
import { asking, asks, team } from './support.ts'

const service = useSharedService()

describe('what surrounds assistants that ask each other', () => {
  it('the configuration names others of the same project, ten at most, and says which member is wrong', async () => {
    const talk = await team(service)
    const other = await talk.member('Other')
    const { project_id: elsewhere } = await talk.client.post('/projects/', { name: 'Elsewhere' })
    const far = await talk.member('Far')
    await talk.client.put(`/assistants/${far}/project`, { project_id: elsewhere })
    const stranger = (await (await insertUser(service)).post('/assistants/', { name: 'Stranger' })).assistant_id
    const put = async (config: unknown) => {
      const tools = [{ type: 'web_search' }, { type: 'assistant', config }]
      const payload = { name: 'Helper', config: { 'type==agent/tools': tools } }
      const { status, body } = await talk.client.call('PUT', `/assistants/${talk.assistantId}`, payload)
      return status === 200 ? 200 : body.detail[0].loc.slice(2).join('/')
    }
    const place = 'type==agent/tools/1/config'
    expect(await put({ assistant_ids: [other] })).toBe(200)
    for (const id of [far, stranger, talk.assistantId, 'nobody'])
      expect(await put({ assistant_ids: [other, id] })).toBe(`${place}/assistant_ids/1`)
    expect(await put({ assistant_ids: [7] })).toBe(`${place}/assistant_ids/0`)
    expect(await put({ assistant_ids: Array.from({ length: 11 }, () => newId()) })).toBe(`${place}/assistant_ids`)
    expect(await put({})).toContain(place)
    // One that was deleted since does not keep the rest from being changed, and the owner is told.
    await talk.client.delete(`/assistants/${other}`)
    expect(await put({ assistant_ids: [other] })).toBe(200)
    const debug = await talk.client.get(`/runs/debug/assistant/${talk.assistantId}`)
    expect(debug.tool_problems).toMatchObject([
      { type: 'web_search' },
      { type: 'assistant', problem: expect.any(String) },
    ])
    const tried = await talk.client.call('POST', `/assistants/${talk.assistantId}/tools/try`, {
      name: 'assistant',
      args: {},
    })
    expect(tried.status).toBe(404)
  })

  it('a file of the assistant has names, an archive keeps all links', async () => {
    const talk = await team(service)
    const expert = await talk.member('Expert')
    await talk.configure(asking(expert))
    const { file } = await talk.client.get(`/assistants/${talk.assistantId}/yaml`)
    expect(parse(file).tools).toEqual([{ type: 'assistant', config: { assistants: ['Expert'] } }])
    expect(await talk.client.post('/assistants/apply', { file })).toMatchObject({ outcome: 'unchanged' })
    const unknown = stringify({ ...parse(file), tools: [{ type: 'assistant', config: { assistants: ['Nobody'] } }] })
    const refused = await talk.client.call('POST', '/assistants/apply', { file: unknown })
    expect(refused.body.detail[0]).toMatchObject({
      loc: ['body', 'file', 'tools', 0, 'config', 'assistants', 0],
      msg: expect.stringContaining('Nobody'),
    })

    talk.says('the chief', asks('Expert'))
    talk.says('Expert', { text: 'Known.' })
    talk.says('the chief', { text: 'Known.' })
    expect((await talk.stream('Ask')).end).toBe('end')
    const receiver = await insertUser(service)
    const { status, body } = await importInto(service, receiver, await archiveOf(service, talk.client))
    expect([status, Object.values(body.refused).filter((count) => count !== 0)]).toEqual([200, []])
    const tar = gunzipSync(await archiveOf(service, receiver))
    const chief = linesIn(tar, 'assistants').find(({ name }) => name === 'Helper')
    const asked = linesIn(tar, 'assistants').find(({ name }) => name === 'Expert')
    expect(chief.config['type==agent/tools'][0].config.assistant_ids).toEqual([asked.assistant_id])
    const [outer, inner] = linesIn(tar, 'runs').toSorted(
      (a, b) => Number(Boolean(a.asked_by)) - Number(Boolean(b.asked_by)),
    )
    expect(inner.asked_by).toMatchObject({
      run_id: outer.run_id,
      root_run_id: outer.run_id,
      thread_id: outer.thread_id,
      assistant_ids: [chief.assistant_id],
    })
    const link = { run_id: inner.run_id, thread_id: inner.thread_id }
    const messages = linesIn(tar, 'messages').flatMap((entry) => entry.messages)
    expect(messages.find(({ type }) => type === 'ToolMessage').data.asked).toEqual({
      ...link,
      assistant_id: asked.assistant_id,
    })
    expect(messages.find(({ data }) => data.tool_calls).data.tool_calls[0]).toMatchObject(link)
    // It goes with its conversation there, too.
    await receiver.delete(`/threads/${outer.thread_id}`)
    expect(await service.collections.threads.countDocuments({ user_id: receiver.userId })).toBe(0)
  })

  it('sources of the answer are those of the one who asked, too', async () => {
    const talk = await team(service)
    const librarian = await talk.member('Librarian')
    await talk.configure(asking(librarian))
    const form = new FormData()
    form.append('files', new Blob(['The harbour opens at nine. Ships pay twelve marks.']), 'harbour.txt')
    const { body } = await talk.client.call('POST', `/assistants/${librarian}/files`, form)
    talk.says('the chief', asks('Librarian'))
    talk.says('Librarian', { toolCalls: [{ name: 'retrieval', arguments: { query: 'harbour opens' } }] })
    talk.says('Librarian', { text: 'It opens at nine (harbour.txt).' })
    talk.says('the chief', { text: 'At nine (harbour.txt).' })
    const { thread_id: threadId, run_id: runId } = await talk.client.post('/runs/', talk.payload('When?'))
    expect(await readRun(await talk.client.fetch('GET', `/runs/${runId}/stream`))).toMatchObject({ end: 'end' })
    const [told] = talk.told('the chief')
    expect(JSON.parse(told ?? '')).toMatchObject({
      answer: 'It opens at nine (harbour.txt).',
      passages: [{ file_name: 'harbour.txt', file_id: body.files[0].id, assistant_id: librarian }],
    })
    // The compatible interface marks the citation in the answer of the one who asked.
    const { data } = await apiClient(service.url, talk.client.token).get(`/v1/threads/${threadId}/messages`)
    expect(data[0].content[0].text.annotations).toMatchObject([
      { text: '(harbour.txt)', file_citation: { file_id: body.files[0].id } },
    ])
  })

  it('public callers cause questions at the cost of the public assistant, within its budget', async () => {
    const token = `public-${newId()}`
    const open = { 'type==agent/access_mode': 'public_token', 'type==agent/public_token': token }
    const talk = await team(service, open)
    const expert = await talk.member('Expert')
    await talk.configure({ ...asking(expert), ...open })
    const path = `/assistants/${talk.assistantId}/budget`
    await talk.client.put(path, { runs: 3 })
    const ask = async () => {
      const body = { assistant_id: talk.assistantId, input: [{ type: 'human', content: 'What is it?' }] }
      return readRun(await apiClient(service.url, token).fetch('POST', '/public/runs/stream', body))
    }
    talk.says('the chief', asks('Expert'))
    talk.says('Expert', { text: 'It is so.' })
    talk.says('the chief', { text: 'So.' })
    expect((await ask()).end).toBe('end')
    expect((await talk.client.get(path)).used).toMatchObject({ runs: 2 })
    const [asked] = await service.collections.runs
      .find({ user_id: talk.client.userId, asked_by: { $exists: true } })
      .lean()
    expect(asked).toMatchObject({ public: true, budgets: [`public/${talk.assistantId}`] })

    talk.says('the chief', asks('Expert'))
    talk.says('the chief', { text: 'I cannot ask.' })
    expect((await ask()).end).toBe('end')
    expect(talk.told('the chief').at(-1)).toBe('The question was not asked: nobody can answer it now.')
    // The threads below go with the assistant whose public callers caused them.
    await talk.client.delete(`/assistants/${talk.assistantId}`)
    expect(await service.collections.threads.countDocuments({ user_id: talk.client.userId })).toBe(1)
  })

  it('one run causes fifty questions at most, and an asked run has no more time than the asking one', async () => {
    const talk = await team(service)
    const expert = await talk.member('Expert')
    await talk.configure(asking(expert))
    const call = talk.says('the chief', asks('Expert'))
    const isFull = Promise.withResolvers<void>()
    const second = talk.says('the chief', { ...asks('Expert'), after: isFull.promise })
    talk.says('Expert', { text: 'Once.' })
    talk.says('the chief', { text: 'Enough.' })
    const streaming = talk.stream('Ask on')
    await Promise.all([call.arrived, second.arrived])
    const own = { user_id: talk.client.userId }
    const [outer] = await service.collections.runs.find({ ...own, asked_by: { $exists: false } }).lean()
    const [inner] = await service.collections.runs.find({ ...own, asked_by: { $exists: true } }).lean()
    expect(outer?.asking_calls).toHaveLength(1)
    expect(inner?.asked_by?.deadline_at?.getTime()).toBeLessThanOrEqual(
      (outer?.created_at.getTime() ?? 0) + 31 * 60_000,
    )
    const others = Array.from({ length: 49 }, (_, index) => `other/${index}`)
    await service.collections.runs.updateOne({ _id: outer?._id }, { $push: { asking_calls: { $each: others } } })
    isFull.resolve()
    expect((await streaming).end).toBe('end')
    expect(talk.told('the chief').at(-1)).toContain('50 questions at most')
  })
})
