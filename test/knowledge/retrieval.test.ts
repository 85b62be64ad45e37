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

  const parametersOffered = (): any => {
    const parameters: any = service.model.requests.at(-1)?.body.tools?.[0]?.function.parameters
    return parameters.properties
  }

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

  const chapters = (count: number) =>
    Array.from(
      { length: count },
      (_, index) => `# Chapter ${index + 1}\n\nMark ${index + 1}. ${'The harbour was dredged once more. '.repeat(70)}`,
    ).join('\n\n')

  async function results(client: Awaited<ReturnType<typeof knowledgeClient>>, calls: object[]) {
    for (const args of calls) service.model.reply({ toolCalls: [{ name: 'retrieval', arguments: args }] })
    service.model.reply({ text: 'So.' })
    const messages = await ask(client, 'Summarise the chronicle.')
    return messages
      .filter((message: any) => message.type === 'ToolMessage')
      .map((message: any) => JSON.parse(message.data.content))
  }

  it('names the files, and reads one in order, part by part', async () => {
    const client = await knowledgeClient(await insertUser(service))
    await client.upload([
      { name: 'Chronicle of the harbour.md', content: chapters(40) },
      { name: 'note.txt', content: 'The Amalia earned 900 marks.' },
    ])
    const query = 'summary'
    const read = await results(client, [
      { query, file: 'Chronicle of the harbour.md' },
      { query, file: 'chronicle of the harbour', part: 2 },
      { query, file: 'note.txt' },
      { query, file: 'note.txt', part: 2 },
      { query, file: 'other.txt' },
    ])
    const { file, part, query: searched } = parametersOffered()
    expect([file.type, part.type, searched.type]).toEqual(['string', 'integer', 'string'])
    expect(file.description).toContain('The files: "note.txt", "Chronicle of the harbour.md".')

    const [first, second, note, beyond, unknown] = read
    expect(first.part).toBe(1)
    expect(first.outline.length).toBe(40)
    expect(first.outline[0]).toEqual({ heading: 'Chapter 1', part: 1 })
    expect(second.outline).toBeUndefined()
    const marks = [first, second].map(({ passages }) =>
      passages.flatMap(({ text }: any) => [...text.matchAll(/Mark (\d+)\./g)].map((match) => Number(match[1]))),
    )
    // No overlap reaches from one section into the next.
    expect(marks.flat()).toEqual(marks.flat().map((_, index) => index + 1))
    const [, ofPart = []] = marks
    for (const { heading, part: at } of first.outline)
      expect(at === 2, heading).toBe(ofPart.includes(Number(heading.slice('Chapter '.length))))
    expect(second.passages[0]).toMatchObject({ file_name: 'Chronicle of the harbour.md', score: 1 })

    expect(note).toMatchObject({ passages: [{ text: 'The Amalia earned 900 marks.' }], part: 1, parts: 1 })
    expect(beyond).toMatchObject({ passages: [], notice: 'The file has no part 2: it has 1.' })
    expect(unknown.passages).toEqual([])
    expect(unknown.notice).toContain('There is no ready file of this name. The files: "note.txt"')
  })

  it('reads no file of another assistant, and gives the names of files to no public caller', async () => {
    const owner = await insertUser(service)
    const token = 'pub-harbour-lights'
    const access = { 'type==agent/access_mode': 'public_token', 'type==agent/public_token': token }
    const [one, other] = [await knowledgeClient(owner), await knowledgeClient(owner, access)]
    await one.upload([{ name: 'secret.txt', content: 'The password of the lighthouse is herring.' }])
    await other.upload([{ name: 'public.txt', content: 'The lighthouse is white.' }])
    const [foreign] = await results(other, [{ query: 'password', file: 'secret.txt' }])
    expect(foreign).toEqual({
      passages: [],
      notice: 'There is no ready file of this name. The files: "public.txt".',
    })

    service.model.reply({ toolCalls: [{ name: 'retrieval', arguments: { query: 'lighthouse' } }] })
    service.model.reply({ text: 'White.' })
    const answer = await fetch(`${service.url}/public/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'Which colour?' }] }),
    })
    expect(await answer.json()).toMatchObject({ choices: [{ message: { content: 'White.' } }] })
    expect(Object.keys(parametersOffered())).toEqual(['query'])
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
