import { expect, it } from 'vitest'
import { knowledgeClient } from '../support/knowledge.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'
import { joinProject } from './joined.ts'

const service = useSharedService()

it('files and sources name who made them, also after the project and the account of their maker are gone', async () => {
  const holder = await knowledgeClient(await insertUser(service))
  const { projectId, assistantId } = holder
  const [editor, other] = [
    await joinProject(service, projectId, 'editor'),
    await joinProject(service, projectId, 'owner'),
  ]
  const [files, sources] = [`/assistants/${assistantId}/files`, `/assistants/${assistantId}/sources`]
  const upload = (by: typeof editor | typeof holder, name: string) => {
    const form = new FormData()
    form.append('files', new Blob([`What ${name} says.`]), name)
    return by.call('POST', files, form)
  }
  const crawl = (by: typeof editor | typeof holder) =>
    by.post(sources, { type: 'page', url: 'http://127.0.0.1:9/', refresh: { interval_seconds: 86_400 } })
  const byEditor = { user_id: editor.userId, name: editor.email }
  const byHolder = { user_id: holder.userId, name: holder.email }

  const uploaded = (await upload(editor, 'hers.txt')).body
  expect(uploaded.files[0].metadata.created_by).toEqual(byEditor)
  expect((await upload(holder, 'his.txt')).body.files[0].metadata.created_by).toEqual(byHolder)
  const source = await crawl(editor)
  expect(source.created_by).toEqual(byEditor)
  expect((await crawl(holder)).created_by).toEqual(byHolder)
  expect((await holder.get(`${sources}/${source.source_id}`)).created_by).toEqual(byEditor)
  const ingestion = `/assistants/${assistantId}/ingestions/${uploaded.ingestion_id}`
  expect((await other.get(ingestion)).files[0].metadata.created_by).toEqual(byEditor)
  expect((await other.call('GET', `${ingestion}/events`)).text).toContain(JSON.stringify(byEditor))
  // What is of the project alone is kept with its maker, too, and shown as the interface of others has it.
  const store = await editor.post('/v1/vector_stores', { name: 'S' })
  expect(await service.collections.assistants.findById(store.id).lean()).toMatchObject({
    user_id: holder.userId,
    created_by: editor.userId,
  })
  expect(store).not.toHaveProperty('created_by')

  const makers = async () => {
    const listed = (await other.get(files)).files.map(({ name, metadata }: any) => [name, metadata.created_by])
    const crawled = (await other.get(sources)).sources.map(({ created_by: maker }: any) => maker)
    return { files: Object.fromEntries(listed), sources: crawled }
  }
  const both = { files: { 'hers.txt': byEditor, 'his.txt': byHolder }, sources: [byHolder, byEditor] }
  expect(await makers()).toEqual(both)
  await holder.call('PUT', `/projects/${projectId}/holder`, { member_id: other.memberId })
  expect(await makers()).toEqual(both)
  await holder.delete('/auth/delete-user', { email_confirmation: holder.email })
  expect(await makers()).toEqual({ files: { 'hers.txt': byEditor, 'his.txt': null }, sources: [null, byEditor] })
})
