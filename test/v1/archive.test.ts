import { toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { archiveOf, importInto } from '../support/archives.ts'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'
import { v1Client } from './v1-client.ts'

const text = 'The office is open from nine to five. On Fridays the office closes at three.'

describe('the archive of an account', () => {
  const service = useSharedService()

  it('takes files of projects and vector stores into another account', async () => {
    const { client, owner } = await v1Client(service)
    const { id: fileId } = await client.files.create({
      file: await toFile(Buffer.from(text), 'hours.txt'),
      purpose: 'user_data',
    })
    const store = await client.vectorStores.create({
      name: 'Papers',
      metadata: { team: 'blue' },
      expires_after: { anchor: 'last_active_at', days: 9 },
    })
    const chunking_strategy = {
      type: 'static',
      static: { max_chunk_size_tokens: 800, chunk_overlap_tokens: 400 },
    } as const
    const attributes = { year: 2026, kind: 'hours' }
    await client.vectorStores.files.createAndPoll(
      store.id,
      { file_id: fileId, attributes, chunking_strategy },
      { pollIntervalMs: 50 },
    )
    await client.beta.assistants.create({
      model: 'm',
      name: 'Searcher',
      tools: [{ type: 'file_search' }],
      tool_resources: { file_search: { vector_store_ids: [store.id] } },
    })

    const target = await insertUser(service)
    const archive = await archiveOf(service, owner)
    const { body: report } = await importInto(service, target, archive)
    expect(report).toMatchObject({
      imported: { vector_stores: 1, files: 1, vector_store_files: 1, assistants: 1 },
      refused: { vector_stores: 0, files: 0, vector_store_files: 0, assistants: 0 },
      problems: [],
    })
    const { body: projects } = await target.call('GET', '/projects/')
    const imported = projects.find(({ name }: { name: string }) => name.includes('imported'))
    const { client: second } = await v1Client(service, { ...target, projectId: imported.project_id })
    const [file] = (await second.files.list()).data
    expect(file).toMatchObject({ filename: 'hours.txt', purpose: 'user_data', bytes: text.length })
    expect(await (await second.files.content(file?.id ?? '')).text()).toBe(text)
    const [copy] = (await second.vectorStores.list()).data
    expect(copy).toMatchObject({ name: 'Papers', metadata: { team: 'blue' }, expires_after: { days: 9 } })
    const copyId = copy?.id ?? ''
    await eventually('the ingestion', async () => (await second.vectorStores.retrieve(copyId)).status === 'completed')
    const filters = { type: 'eq', key: 'kind', value: 'hours' } as const
    expect((await second.vectorStores.search(copyId, { query: 'Fridays', filters })).data).toMatchObject([
      { file_id: file?.id, attributes },
    ])
    const entry = await second.vectorStores.files.retrieve(file?.id ?? '', { vector_store_id: copyId })
    expect(entry.chunking_strategy).toEqual(chunking_strategy)
    const [assistant] = (await second.beta.assistants.list()).data
    expect(assistant?.tool_resources).toEqual({ file_search: { vector_store_ids: [copyId] } })

    const { body: again } = await importInto(service, target, archive)
    expect(again).toMatchObject({ existing: { vector_stores: 1, files: 1, vector_store_files: 1, assistants: 1 } })
    expect((await second.files.list()).data).toHaveLength(1)
  })
})
