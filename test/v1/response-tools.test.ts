import { type OpenAI, toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { newId } from '../../domain/ids.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import { eventually } from '../support/eventually.ts'
import { everythingIn } from '../support/everything-in.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { startMcpServer, startRawMcpServer } from '../support/mcp-server.ts'
import { useSharedService } from '../support/shared-service.ts'
import { rawDatabase, rawRedis } from '../support/stores.ts'
import { refusalOf, v1Client } from './v1-client.ts'

type Event = OpenAI.Responses.ResponseStreamEvent

const hours = 'The office is open from nine to five. On Fridays the office closes at three.'
const key = 'Bearer secret-of-the-server'
const keyInAddress = 'secret-in-the-address'

describe('tools of responses that the service executes', () => {
  const service = useSharedService()
  let mcp: Awaited<ReturnType<typeof startMcpServer>>

  beforeAll(async () => {
    mcp = await startMcpServer({
      authorization: key,
      register: (server) => {
        for (const name of ['add', 'other'])
          server.registerTool(
            name,
            { description: 'Adds', inputSchema: { a: z.number(), b: z.number() } },
            ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }),
          )
      },
    })
  })
  afterAll(() => mcp.close())

  it('search vector stores, show the results when asked, and cite files', async () => {
    const { client, owner } = await v1Client(service)
    const file = await client.files.create({
      file: await toFile(Buffer.from(hours), 'hours.txt'),
      purpose: 'assistants',
    })
    const store = await client.vectorStores.create({ name: 'Papers' })
    await client.vectorStores.files.createAndPoll(
      store.id,
      { file_id: file.id, attributes: { year: 2026 } },
      { pollIntervalMs: 200 },
    )
    const tool: OpenAI.Responses.FileSearchTool = {
      type: 'file_search',
      vector_store_ids: [store.id],
      max_num_results: 3,
    }
    const ask = () => {
      service.model.reply({ toolCalls: [{ name: 'retrieval', arguments: { query: 'When does it close?' } }] })
      service.model.reply({ text: 'At three (hours.txt).' })
    }
    ask()
    const response = await client.responses.create({
      model: 'scripted',
      input: 'When does the office close on Fridays?',
      tools: [tool],
      tool_choice: { type: 'file_search' },
      include: ['file_search_call.results'],
    })
    expect(response.output).toMatchObject([
      {
        type: 'file_search_call',
        status: 'completed',
        queries: ['When does it close?'],
        results: [{ file_id: file.id, filename: 'hours.txt', text: expect.stringContaining('three') }],
      },
      {
        type: 'message',
        content: [
          {
            text: 'At three (hours.txt).',
            annotations: [{ type: 'file_citation', file_id: file.id, filename: 'hours.txt', index: 9 }],
          },
        ],
      },
    ])
    ask()
    const events: Event[] = []
    const stream = await client.responses.create({ model: 'scripted', input: 'When?', tools: [tool], stream: true })
    for await (const event of stream) events.push(event)
    expect(events.map(({ type }) => type).filter((type) => /search|annotation/.test(type))).toEqual([
      'response.file_search_call.in_progress',
      'response.file_search_call.searching',
      'response.file_search_call.completed',
      'response.output_text.annotation.added',
    ])
    const last = events.at(-1)
    if (last?.type !== 'response.completed') throw new Error('the response did not complete')
    expect(last.response.output[0]).toMatchObject({ type: 'file_search_call', results: null })
    ask()
    const none = await client.responses.create({
      model: 'scripted',
      input: 'When?',
      tools: [{ ...tool, filters: { type: 'eq', key: 'year', value: 1999 } }],
      include: ['file_search_call.results'],
    })
    expect(none.output[0]).toMatchObject({ type: 'file_search_call', results: [] })
    // The filter holds for files of the assistant's own, which have no attributes, too.
    const librarian = await knowledgeClient(owner)
    await librarian.upload([{ name: 'own.txt', content: 'On Fridays the office closes at five.' }])
    await eventually(
      'the file is ready',
      async () => (await librarian.list()).body.files[0].metadata.status === 'ready',
    )
    const foundWith = async (year: number | undefined) => {
      ask()
      const filters = year === undefined ? {} : { filters: { type: 'eq' as const, key: 'year', value: year } }
      const { output } = await client.responses.create({
        model: librarian.assistantId,
        input: 'When?',
        tools: [{ ...tool, ...filters }],
        include: ['file_search_call.results'],
      })
      const [call] = output
      return call?.type === 'file_search_call' ? call.results?.map(({ filename }) => filename).toSorted() : undefined
    }
    expect(await foundWith(undefined)).toEqual(['hours.txt', 'own.txt'])
    expect(await foundWith(2026)).toEqual(['hours.txt'])
    expect(await foundWith(1999)).toEqual([])
    const refused = await refusalOf(
      client.responses.create({
        model: 'scripted',
        input: 'When?',
        tools: [{ type: 'file_search', vector_store_ids: ['nothing'] }],
      }),
    )
    expect(refused.status).toBe(404)
  })

  it('are chosen by their server and name, and limited in number', async () => {
    const { client } = await v1Client(service)
    const tools: OpenAI.Responses.Tool[] = [
      {
        type: 'mcp',
        server_label: 'sums',
        server_url: mcp.url,
        headers: { authorization: key },
        require_approval: 'never',
      },
      { type: 'function', name: 'ask_user', parameters: { type: 'object', properties: {} }, strict: false },
    ]
    const call = { name: 'sums_add', arguments: { a: 1, b: 2 } }
    const asked = (from: number) =>
      service.model.requests
        .slice(from)
        .map(({ body }) => [body.tools?.map(({ function: { name } }) => name), body['tool_choice']])
    const create = async (more: Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming>) => {
      const from = service.model.requests.length
      const response = await client.responses.create({ model: 'scripted', input: 'Add', tools, ...more })
      return { response, asked: asked(from) }
    }
    service.model.reply({ toolCalls: [call] })
    service.model.reply({ text: 'Three' })
    const demanded = { type: 'function', function: { name: 'sums_add' } }
    expect((await create({ tool_choice: { type: 'mcp', server_label: 'sums', name: 'add' } })).asked).toEqual([
      [['sums_add'], demanded],
      [['sums_add'], undefined],
    ])
    service.model.reply({ text: 'Nothing' })
    expect((await create({ tool_choice: { type: 'mcp', server_label: 'sums' } })).asked).toEqual([
      [['sums_add', 'sums_other'], 'required'],
    ])
    service.model.reply({ text: 'Nothing' })
    const allowed = [
      { type: 'function', name: 'ask_user' },
      { type: 'mcp', server_label: 'sums', name: 'other' },
    ]
    expect((await create({ tool_choice: { type: 'allowed_tools', mode: 'auto', tools: allowed } })).asked).toEqual([
      [['ask_user', 'sums_other'], undefined],
    ])

    // Of three calls two are made; then only the functions of the client are offered.
    service.model.reply({ toolCalls: [call, call, call] })
    service.model.reply({ text: 'Enough' })
    const limited = await create({ max_tool_calls: 2 })
    expect(limited.asked.map(([names]) => names)).toEqual([['ask_user', 'sums_add', 'sums_other'], ['ask_user']])
    expect(limited.response).toMatchObject({ max_tool_calls: 2, output_text: 'Enough' })
    expect(limited.response.output).toMatchObject([
      { type: 'mcp_list_tools', server_label: 'sums', tools: [{ name: 'add' }, { name: 'other' }], error: null },
      { type: 'mcp_call', output: '3' },
      { type: 'mcp_call', output: '3' },
      { type: 'mcp_call', output: 'This call was not made: 2 calls are allowed in all.' },
      { type: 'message' },
    ])
    // A client that keeps the conversation itself sends all items again.
    service.model.reply({ text: 'Again' })
    const input = [...limited.response.output, { role: 'user', content: 'Go on' }] as OpenAI.Responses.ResponseInput
    const again = await create({ input })
    expect(again.response.output_text).toBe('Again')
  })

  it('share the room for what MCP servers list', async () => {
    const { client } = await v1Client(service)
    const inputSchema = { type: 'object', properties: {}, $comment: 'x'.repeat(9000) }
    const many = await startRawMcpServer(Array.from({ length: 10 }, (_, index) => ({ name: `t${index}`, inputSchema })))
    service.model.reply({ text: 'Nothing' })
    const { output } = await client.responses
      .create({
        model: 'scripted',
        input: 'Go',
        tools: ['a', 'b'].map((label) => ({
          type: 'mcp',
          server_label: label,
          server_url: many.url,
          require_approval: 'never',
        })),
      })
      .finally(() => many.close())
    const shown = output.flatMap((item) => (item.type === 'mcp_list_tools' ? [item.tools.length] : []))
    expect(shown).toEqual([7, 7])
  })

  it('call an MCP server with its key, which is neither shown nor stored in clear', async () => {
    const { client } = await v1Client(service)
    service.model.reply({ toolCalls: [{ id: 'c1', name: 'sums_add', arguments: { a: 1, b: 2 } }] })
    service.model.reply({ text: 'Three' })
    const events: Event[] = []
    const stream = await client.responses.create({
      model: 'scripted',
      input: 'Add',
      stream: true,
      tools: [
        {
          type: 'mcp',
          server_label: 'sums',
          server_url: `${mcp.url}?key=${keyInAddress}`,
          headers: { authorization: key },
          allowed_tools: ['add'],
          require_approval: 'never',
        },
      ],
    })
    for await (const event of stream) events.push(event)
    const offered = service.model.requests.at(-2)?.body.tools?.map(({ function: { name } }) => name)
    expect(offered).toEqual(['sums_add'])
    const last = events.at(-1)
    if (last?.type !== 'response.completed') throw new Error('the response did not complete')
    expect(last.response.output).toMatchObject([
      { type: 'mcp_list_tools', server_label: 'sums', tools: [{ name: 'add', description: 'Adds' }] },
      { type: 'mcp_call', server_label: 'sums', name: 'add', arguments: '{"a":1,"b":2}', output: '3' },
      { type: 'message' },
    ])
    expect(events.map(({ type }) => type).filter((type) => type.includes('mcp'))).toEqual([
      'response.mcp_list_tools.in_progress',
      'response.mcp_list_tools.completed',
      'response.mcp_call.in_progress',
      'response.mcp_call_arguments.delta',
      'response.mcp_call_arguments.done',
      'response.mcp_call.completed',
    ])
    // An address can be a key as a whole: only its server is shown.
    expect(last.response.tools).toMatchObject([{ type: 'mcp', server_url: new URL(mcp.url).origin }])
    const read = await client.responses.retrieve(last.response.id)
    const known = everythingIn([events, read, await rawDatabase(service), await rawRedis(service)])
    expect(known).toContain(last.response.id.slice('resp_'.length))
    for (const secret of [key, keyInAddress]) expect(known).not.toContain(secret)
    // The helper reads them too.
    const replayed = client.responses.stream({ response_id: last.response.id })
    expect((await replayed.finalResponse()).output_text).toBe('Three')
  })

  it('ask a person before calls of an MCP server, and make what was allowed in the next response', async () => {
    const { client } = await v1Client(service)
    const server = {
      type: 'mcp' as const,
      server_label: 'sums',
      server_url: mcp.url,
      headers: { authorization: key },
      require_approval: { always: { tool_names: ['add'] } },
    }
    const create = { model: 'scripted', tools: [server] }
    const ask = async (arguments_: object) => {
      service.model.reply({ toolCalls: [{ id: 'c1', name: 'sums_add', arguments: arguments_ }] })
      const events = await Array.fromAsync(await client.responses.create({ ...create, input: 'Add', stream: true }))
      const last = events.at(-1)
      if (last?.type !== 'response.completed') throw new Error('the response did not complete')
      const request = last.response.output.at(-1)
      if (request?.type !== 'mcp_approval_request') throw new Error('nobody was asked')
      expect(events.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item] : []))).toEqual(
        last.response.output,
      )
      return { id: last.response.id, output: last.response.output, request }
    }
    const first = await ask({ a: 1, b: 2 })
    expect(first.request).toMatchObject({ server_label: 'sums', name: 'add', arguments: '{"a":1,"b":2}' })
    const decision = (approve: boolean, id: string, reason?: string) => ({
      type: 'mcp_approval_response' as const,
      approval_request_id: id,
      approve,
      ...(reason === undefined ? {} : { reason }),
    })

    const toolMessages = () =>
      service.model.requests.at(-1)?.body.messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []))
    service.model.reply({ text: 'Three' })
    const go = { ...create, previous_response_id: first.id, input: [decision(true, first.request.id)] }
    const second = await client.responses.create(go)
    expect(second.output).toMatchObject([
      { type: 'mcp_list_tools' },
      { type: 'mcp_call', name: 'add', output: '3', approval_request_id: first.request.id, status: 'completed' },
      { type: 'message' },
    ])
    expect(second.output_text).toBe('Three')
    expect(toolMessages()).toEqual(['A person allowed this call: it is made next.', '3'])
    // What was decided is not made again, in the same conversation or in a branch of it.
    const again = { ...create, input: [...go.input, { role: 'user' as const, content: 'And?' }] }
    for (const store of [true, false]) {
      service.model.reply({ text: 'Still three' })
      const repeated = await client.responses.create({ ...again, store, previous_response_id: second.id })
      expect(repeated.output.map(({ type }) => type)).toEqual(['mcp_list_tools', 'message'])
    }
    // Models number the calls of each answer anew: a new one with the id of one that was allowed is asked about.
    service.model.reply({ toolCalls: [{ id: 'c1', name: 'sums_add', arguments: { a: 9, b: 9 } }] })
    const asking = await client.responses.create({ ...again, store: false, previous_response_id: second.id })
    expect(asking.output.map(({ type }) => type)).toEqual(['mcp_list_tools', 'mcp_approval_request'])

    // Two requests that allow one call of one response: it is made once, and the other one is told where.
    const shared = await ask({ a: 4, b: 4 })
    service.model.reply({ text: 'Eight' })
    const both = { ...create, previous_response_id: shared.id, input: [decision(true, shared.request.id)] }
    const outcomes = await Promise.allSettled([client.responses.create(both), client.responses.create(both)])
    const [made] = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(made?.output_text).toBe('Eight')
    const late = await refusalOf(client.responses.create(both))
    expect([late.status, late.message]).toEqual([409, expect.stringContaining(made?.id ?? 'none')])
    // One that ended before it made the call leaves it to the next: without the tool, nothing was made.
    const left = await ask({ a: 6, b: 6 })
    service.model.reply({ text: 'Twelve' })
    const free = { ...create, previous_response_id: left.id, input: [decision(true, left.request.id)] }
    const stale = newId()
    const asked = { _id: left.id.slice('resp_'.length) }
    const run = await service.collections.runs.findById(made?.id.slice('resp_'.length)).lean<RunRecord>()
    await service.collections.runs.create([{ ...run, _id: stale, status: 'error', response_json: undefined }])
    const place = left.request.id.replace(/^[a-z]+_/, '')
    await service.collections.runs.updateOne(asked, { $set: { [`allowed_calls.${place}`]: stale } })
    expect((await client.responses.create(free)).output_text).toBe('Twelve')

    // A client that keeps the conversation itself sends all of it.
    const other = await ask({ a: 2, b: 2 })
    service.model.reply({ text: 'Four' })
    const input = [{ role: 'user' as const, content: 'Add' }, ...(other.output as []), decision(true, other.request.id)]
    const own = await client.responses.create({ ...create, store: false, input })
    // Every call of a conversation has an id of its own: some providers refuse others.
    const ids = service.model.requests
      .at(-1)
      ?.body.messages.flatMap(({ tool_calls: made = [] }) => made.map(({ id }) => id))
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(2)
    expect(own.output).toMatchObject([
      { type: 'mcp_list_tools' },
      { type: 'mcp_call', output: '4' },
      { type: 'message' },
    ])
    // With its next turn, it sends the decision again; the call is not made again.
    service.model.reply({ text: 'Still four' })
    const turn = [...input, ...(own.output as []), { role: 'user' as const, content: 'And?' }]
    const next = await client.responses.create({ ...create, store: false, input: turn })
    expect(next.output.map(({ type }) => type)).toEqual(['mcp_list_tools', 'message'])

    const third = await ask({ a: 5, b: 5 })
    service.model.reply({ text: 'As you wish' })
    const refused = { ...create, previous_response_id: third.id, input: [decision(false, third.request.id, 'too big')] }
    expect((await client.responses.create(refused)).output.map(({ type }) => type)).toEqual([
      'mcp_list_tools',
      'message',
    ])
    expect(toolMessages()).toEqual(['A person did not allow this call: too big'])

    // A person who decides twice at the same time has allowed one call.
    const { id: conversation } = await client.conversations.create({})
    service.model.reply({ toolCalls: [{ id: 'c1', name: 'sums_add', arguments: { a: 3, b: 3 } }] })
    const inConversation = await client.responses.create({ ...create, conversation, input: 'Add' })
    const twice = decision(true, inConversation.output.at(-1)?.id ?? '')
    const aside = client.conversations.items.create(conversation, { items: [twice] })
    expect(await refusalOf(aside)).toMatchObject({ status: 400, param: 'items' })
    for (const text of ['Six', 'Six again']) service.model.reply({ text })
    const answers = await Promise.all(
      [1, 2].map(async () =>
        client.responses.create({ ...create, conversation, input: [twice, { role: 'user', content: 'Go on' }] }),
      ),
    )
    const calls = answers.flatMap(({ output }) => output.filter(({ type }) => type === 'mcp_call'))
    expect(calls).toHaveLength(1)

    const wrong = async (body: object) => {
      const { status, param } = await refusalOf(client.responses.create({ ...create, ...body }))
      return [status, param]
    }
    const unknown = decision(true, 'mcpr_00000000-0000-7000-8000-000000000000-0_0')
    expect(await wrong({ input: [unknown] })).toEqual([400, 'input[0].approval_request_id'])
    expect(await wrong({ ...go, tools: [] })).toEqual([400, 'tools'])
  })

  it('fail with 424 and its name when an MCP server cannot be asked, and offer what its filter allows', async () => {
    const { client } = await v1Client(service)
    const create = (tool: object) => {
      const server = { type: 'mcp', server_label: 'sums', server_url: mcp.url, require_approval: 'never', ...tool }
      const body = { model: 'scripted', input: 'Add', tools: [server] }
      return client.responses.create(body as OpenAI.Responses.ResponseCreateParamsNonStreaming)
    }
    const before = service.model.requests.length
    const refused = await refusalOf(create({ server_label: 'closed' }))
    expect([refused.status, refused.code, refused.param]).toEqual([
      424,
      'external_connector_error',
      'tools[0].server_url',
    ])
    expect(refused.message).toContain('closed')
    expect(service.model.requests.length).toBe(before)
    service.model.reply({ text: 'Nothing' })
    const key = { headers: { authorization: 'Bearer secret-of-the-server' } }
    await create({ ...key, allowed_tools: { read_only: true } })
    expect(service.model.requests.at(-1)?.body.tools).toBeUndefined()
    service.model.reply({ text: 'Nothing' })
    await create({ ...key, allowed_tools: { read_only: false, tool_names: ['add'] } })
    expect(service.model.requests.at(-1)?.body.tools?.map(({ function: { name } }) => name)).toEqual(['sums_add'])
  })
})
