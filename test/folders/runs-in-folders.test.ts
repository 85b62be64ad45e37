import { expect, it } from 'vitest'
import { folderLimits } from '../../domain/records/folder.ts'
import { joinProject } from '../projects/joined.ts'
import { conversation } from '../runs/support.ts'
import { archiveOf, importInto } from '../support/archives.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

const service = useSharedService()

type Client = Awaited<ReturnType<typeof conversation>>['client']

async function upload(client: Pick<Client, 'post'>, name: string, text: string): Promise<string> {
  const form = new FormData()
  form.append('purpose', 'assistants')
  form.append('file', new Blob([text], { type: 'text/plain' }), name)
  return String((await client.post('/v1/files', form)).id)
}

it('in every chat of a folder the model is told its instructions, and its files are searched', async () => {
  const talk = await conversation(service)
  const { client, threadId } = talk
  const { folder_id: id } = await client.post('/folders/', { name: 'Harbour', instructions: 'Times are local.' })
  // What is refused makes nothing.
  expect((await client.call('POST', `/folders/${id}/files`, { file_id: 'missing' })).status).toBe(404)
  expect(await client.get('/folders/')).toMatchObject([{ vector_store_id: null }])
  const hours = await upload(client, 'hours.txt', 'The harbour office opens at six.')
  const { vector_store_id: storeId } = await client.post(`/folders/${id}/files`, { file_id: hours })
  const boats = await upload(client, 'boats.txt', 'The ferry leaves the harbour at nine.')
  expect(await client.post(`/folders/${id}/files`, { file_id: boats })).toMatchObject({ vector_store_id: storeId })
  // Repeated.
  await client.post(`/folders/${id}/files`, { file_id: boats })
  expect((await client.get(`/v1/vector_stores/${storeId}/files`)).data).toHaveLength(2)

  const systemOf = () =>
    JSON.stringify(service.model.requests.at(-1)?.body.messages.filter(({ role }: any) => role === 'system'))
  service.model.reply({ text: 'Outside.' })
  await talk.stream('When?')
  expect(systemOf()).not.toContain('Times are local.')

  await client.put(`/threads/${threadId}`, { folder_id: id })
  service.model.reply({
    toolCalls: [{ name: 'retrieval', arguments: { query: 'When does the harbour office open?' } }],
  })
  service.model.reply({ text: 'At six.' })
  await talk.stream('When?', { instructions: 'One word.' })
  const system = systemOf()
  expect(system.indexOf('Times are local.')).toBeGreaterThan(-1)
  expect(system.indexOf('One word.')).toBeGreaterThan(system.indexOf('Times are local.'))
  const result = (await talk.messages()).findLast(({ type }) => type === 'ToolMessage')
  const { passages } = JSON.parse(String(result?.data.content)) as { passages: { file_name: string }[] }
  expect(passages.map(({ file_name: name }) => name)).toContain('hours.txt')

  // What changes holds for the next question.
  await client.put(`/folders/${id}`, { instructions: 'Times are in UTC.' })
  service.model.reply({ text: 'Changed.' })
  await talk.stream('And now?')
  expect(systemOf()).toContain('Times are in UTC.')
  await client.put(`/threads/${threadId}`, { folder_id: null })
  service.model.reply({ text: 'Outside again.' })
  await talk.stream('And outside?')
  expect(systemOf()).not.toContain('Times are in UTC.')
})

it('a folder that is deleted takes its files along, but not those that are also elsewhere', async () => {
  const { client } = await conversation(service)
  const { folder_id: id } = await client.post('/folders/', { name: 'Harbour' })
  const own = await upload(client, 'own.txt', 'The office opens at six.')
  const shared = await upload(client, 'shared.txt', 'The office closes at three.')
  for (const file of [own, shared]) await client.post(`/folders/${id}/files`, { file_id: file })
  const [{ vector_store_id: storeId }] = await client.get('/folders/')
  const other = await client.post('/v1/vector_stores', { file_ids: [shared] })
  await client.delete(`/folders/${id}`)
  expect((await client.call('GET', `/v1/files/${own}`)).status).toBe(404)
  expect((await client.call('GET', `/v1/vector_stores/${storeId}`)).status).toBe(404)
  expect((await client.call('GET', `/v1/files/${shared}`)).status).toBe(200)
  expect((await client.get(`/v1/vector_stores/${other.id}/files`)).data).toHaveLength(1)
})

it('a folder that is deleted leaves what somebody else has uploaded, and says its name to nobody', async () => {
  const { client: owner } = await conversation(service)
  const editor = await joinProject(service, owner.projectId, 'editor')
  const { folder_id: id } = await editor.post('/folders/', { name: 'Mine' })
  const his = await upload(editor, 'his.txt', 'The office opens at six.')
  const hers = await upload(owner, 'hers.txt', 'The office closes at three.')
  for (const file of [his, hers]) await editor.post(`/folders/${id}/files`, { file_id: file })
  expect(JSON.stringify(await owner.get('/v1/vector_stores'))).not.toContain('Mine')
  await editor.delete(`/folders/${id}`)
  expect((await owner.call('GET', `/v1/files/${his}`)).status).toBe(404)
  expect((await owner.call('GET', `/v1/files/${hers}`)).status).toBe(200)
  expect((await owner.get('/v1/vector_stores')).data).toEqual([])
})

it('a folder takes as many files as it may have, and one of them again', async () => {
  const { client } = await conversation(service)
  const { folder_id: id } = await client.post('/folders/', { name: 'Harbour' })
  const file = await upload(client, 'own.txt', 'The office opens at six.')
  const { vector_store_id: storeId } = await client.post(`/folders/${id}/files`, { file_id: file })
  const entry = await service.collections.files.findOne({ assistant_id: storeId }).lean()
  await service.collections.files.insertMany(
    Array.from({ length: folderLimits.files - 1 }, (_, place) => ({
      ...entry,
      _id: `${entry?._id}-${place}`,
      source_id: `${file}-${place}`,
    })),
  )
  const more = await upload(client, 'more.txt', 'One too many.')
  expect((await client.call('POST', `/folders/${id}/files`, { file_id: more })).status).toBe(403)
  expect((await client.call('POST', `/folders/${id}/files`, { file_id: file })).status).toBe(200)
})

it('an archive has the files of a folder, and they are searched under its new id', async () => {
  const { client } = await conversation(service)
  const { folder_id: id } = await client.post('/folders/', { name: 'Harbour' })
  const file = await upload(client, 'hours.txt', 'The harbour office opens at six.')
  await client.post(`/folders/${id}/files`, { file_id: file })
  const heir = await insertUser(service)
  await importInto(service, heir, await archiveOf(service, client))
  const copy = await service.collections.folders.findOne({ user_id: heir.userId }).lean()
  expect(copy?.vector_store_id).toBeDefined()
  const entries = await service.collections.files.find({ assistant_id: copy?.vector_store_id }).lean()
  expect(entries.map(({ name }) => name)).toEqual(['hours.txt'])
})

it('a folder whose vector store is gone gets another one', async () => {
  const { client } = await conversation(service)
  const { folder_id: id } = await client.post('/folders/', { name: 'Harbour' })
  const file = await upload(client, 'own.txt', 'The office opens at six.')
  const first = await client.post(`/folders/${id}/files`, { file_id: file })
  await client.delete(`/v1/vector_stores/${first.vector_store_id}`)
  const second = await client.post(`/folders/${id}/files`, { file_id: file })
  expect(second.vector_store_id).not.toBe(first.vector_store_id)
  expect((await client.get(`/v1/vector_stores/${second.vector_store_id}/files`)).data).toHaveLength(1)
})

it('who leaves a shared project loses his folders in it; what they searched goes, and files stay with the project', async () => {
  const { client: owner } = await conversation(service)
  const { projectId } = owner
  const editor = await joinProject(service, projectId, 'editor')
  const { folder_id: id } = await editor.post('/folders/', { name: 'Mine' })
  const file = await upload(editor, 'own.txt', 'The office opens at six.')
  const { vector_store_id: storeId } = await editor.post(`/folders/${id}/files`, { file_id: file })
  await owner.delete(`/projects/${projectId}/members/${editor.memberId}`)
  const isGone = async () => {
    const store = await service.collections.assistants.findById(storeId).lean()
    return store === null || (store.kind === 'vector_store' && store.store.expires_at !== undefined)
  }
  await expect.poll(isGone, { timeout: 30_000 }).toBe(true)
  expect(await service.collections.folders.countDocuments({ user_id: editor.userId })).toBe(0)
  expect((await owner.call('GET', `/v1/files/${file}`)).status).toBe(200)
})
