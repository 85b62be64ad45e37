import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { knowledgeClient } from '../support/knowledge.ts'
import { useSharedService } from '../support/shared-service.ts'
import { allEvents } from '../support/sse.ts'
import { insertUser } from '../support/users.ts'

describe('retrieval in a run', () => {
  const service = useSharedService()

  async function ask(client: Awaited<ReturnType<typeof knowledgeClient>>, question: string) {
    const { body: thread } = await client.call('POST', '/threads/', { assistant_id: client.assistantId })
    const ids = { thread_id: thread.thread_id, assistant_id: client.assistantId }
    const input = [{ type: 'human', content: question }]
    const response = await client.fetch('POST', '/runs/stream', { ...ids, input, config: { configurable: ids } })
    expect(response.status).toBe(200)
    const events = await allEvents(response)
    expect(events.at(-1)?.event).toBe('end')
    const state = await client.call('GET', `/threads/${thread.thread_id}/state`)
    return state.body.values.messages
  }

  const offered = () => service.model.requests.at(-1)?.body.tools?.map((tool) => tool.function.name) ?? []

  it('is offered only while there are ready files, and returns passages with file, page and score', async () => {
    const client = await knowledgeClient(await insertUser(service))
    service.model.reply({ text: 'I know nothing.' })
    await ask(client, 'What is an abdomen?')
    expect(offered()).toEqual([])

    const pdf = await readFile(join(import.meta.dirname, 'fixtures', 'devils-dictionary.pdf'))
    const { body } = await client.upload([
      { name: 'bierce.pdf', content: new Uint8Array(pdf) },
      { name: 'harbour.md', content: '# Harbour\n\n## Costs\n\nThe dredging cost 73,500 marks.\n' },
    ])
    expect(body.files.map((file: any) => file.metadata.status)).toEqual(['ready', 'ready'])

    service.model.reply({
      toolCalls: [{ name: 'retrieval', arguments: { query: 'What is an abdomen, the temple of the stomach?' } }],
    })
    service.model.reply({ text: 'The temple of the god Stomach (bierce.pdf).' })
    const messages = await ask(client, 'What is an abdomen?')
    expect(offered()).toEqual(['retrieval'])
    const answer = messages.find((message: any) => message.type === 'ToolMessage')
    const { passages } = JSON.parse(answer.data.content)
    expect(passages.length).toBeLessThanOrEqual(5)
    expect(passages[0]).toMatchObject({ file_name: 'bierce.pdf', page: expect.any(Number), score: expect.any(Number) })
    expect(passages[0].text).toContain('The temple of the god Stomach')
    const scores = passages.map((passage: any) => passage.score)
    expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a))

    service.model.reply({ toolCalls: [{ name: 'retrieval', arguments: { query: 'dredging 73500 marks' } }] })
    service.model.reply({ text: '73,500 marks.' })
    const costs = await ask(client, 'What did the dredging cost?')
    const found = JSON.parse(costs.find((message: any) => message.type === 'ToolMessage').data.content)
    expect(found.passages[0]).toMatchObject({ file_name: 'harbour.md', heading: 'Harbour > Costs' })

    for (const { id } of body.files) await client.call('DELETE', `/assistants/${client.assistantId}/files/${id}`)
    service.model.reply({ text: 'I know nothing any more.' })
    await ask(client, 'What is an abdomen?')
    expect(offered()).toEqual([])
  })

  it('completes a query that leans on the conversation by the subject of the one before', async () => {
    const client = await knowledgeClient(await insertUser(service))
    await client.upload([
      { name: 'amalia.md', content: 'The Amalia earned 900 marks.' },
      { name: 'calendar.md', content: 'In 1912 there were 366 days.' },
    ])
    const { body: thread } = await client.call('POST', '/threads/', { assistant_id: client.assistantId })
    const ids = { thread_id: thread.thread_id, assistant_id: client.assistantId }
    const search = async (query: string) => {
      service.model.reply({ toolCalls: [{ name: 'retrieval', arguments: { query } }] })
      service.model.reply({ text: 'So.' })
      const input = [{ type: 'human', content: 'Well?' }]
      await allEvents(await client.fetch('POST', '/runs/stream', { ...ids, input, config: { configurable: ids } }))
      const { body } = await client.call('GET', `/threads/${thread.thread_id}/state`)
      const results = body.values.messages.filter((message: any) => message.type === 'ToolMessage')
      return JSON.parse(results.at(-1).data.content).passages[0].file_name
    }
    expect(await search('and in 1912?')).toBe('calendar.md')
    expect(await search('marks that the Amalia earned')).toBe('amalia.md')
    expect(await search('and in 1912?')).toBe('amalia.md')
    expect(await search('and 1912?')).toBe('amalia.md')
  })

  it('finds nothing of another assistant', async () => {
    const owner = await insertUser(service)
    const [one, other] = [await knowledgeClient(owner), await knowledgeClient(owner)]
    await one.upload([{ name: 'secret.txt', content: 'The password of the lighthouse is herring.' }])
    await other.upload([{ name: 'public.txt', content: 'The lighthouse is white.' }])
    service.model.reply({
      toolCalls: [{ name: 'retrieval', arguments: { query: 'password of the lighthouse herring' } }],
    })
    service.model.reply({ text: 'I do not know.' })
    const messages = await ask(other, 'What is the password?')
    expect(JSON.stringify(messages)).not.toContain('password of the lighthouse is')
  })
})
