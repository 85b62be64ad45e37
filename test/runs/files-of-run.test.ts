import { expect, it } from 'vitest'
import { useSharedService } from '../support/shared-service.ts'
import { conversation } from './support.ts'

const service = useSharedService()

it('a run searches only the files that it names, and those of its assistant only', async () => {
  const talk = await conversation(service)
  const other = await conversation(service)
  const add = async ({ client, assistantId }: typeof talk, name: string) => {
    const form = new FormData()
    form.append('files', new Blob([`# ${name}\n\nThe office opens at six.`], { type: 'text/markdown' }), name)
    const { files } = await client.post(`/assistants/${assistantId}/files`, form)
    return String(files[0].id)
  }
  const [north, south] = [await add(talk, 'north.md'), await add(talk, 'south.md')]
  const foreign = await add(other, 'foreign.md')
  const found = async (fileIds?: string[]) => {
    service.model.reply({ toolCalls: [{ name: 'retrieval', arguments: { query: 'When does the office open?' } }] })
    service.model.reply({ text: 'At six.' })
    await talk.stream('When?', fileIds === undefined ? {} : { file_ids: fileIds })
    const result = (await talk.messages()).findLast(({ type }) => type === 'ToolMessage')
    const { passages } = JSON.parse(String(result?.data.content)) as { passages: { file_id: string }[] }
    return [...new Set(passages.map(({ file_id: id }) => id))].toSorted()
  }
  expect(await found()).toEqual([north, south].toSorted())
  expect(await found([south])).toEqual([south])
  expect(await found([north, foreign])).toEqual([north])
  expect(await found([foreign])).toEqual([])
  const tooMany = { thread_id: talk.threadId, input: [{ type: 'human', content: 'x' }], file_ids: Array(21).fill('x') }
  expect((await talk.client.call('POST', '/runs/', tooMany)).status).toBe(422)
})
