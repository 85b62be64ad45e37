import type OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { useSharedService } from '../support/shared-service.ts'
import { v1Client } from './v1-client.ts'

type Event = OpenAI.Responses.ResponseStreamEvent
type Create = OpenAI.Responses.ResponseCreateParamsNonStreaming

const patch = '*** Begin Patch\n*** End Patch'

describe('tools of responses that the client executes and that are no functions', () => {
  const service = useSharedService()

  it('are called as the client knows them, and take their outputs back', async () => {
    const { client } = await v1Client(service)
    const tools: Create['tools'] = [
      {
        type: 'custom',
        name: 'patch',
        description: 'Patches.',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
      },
      {
        type: 'namespace',
        name: 'team',
        description: 'The team.',
        tools: [{ type: 'function', name: 'ask', parameters: { type: 'object', properties: {} }, strict: false }],
      },
      { type: 'local_shell' },
      { type: 'shell' },
      { type: 'apply_patch' },
    ]
    service.model.reply({
      toolCalls: [
        { id: 'c1', name: 'patch', arguments: { input: patch } },
        { id: 'c2', name: 'team__ask', arguments: { who: 'Ann' } },
        { id: 'c3', name: 'local_shell', arguments: { command: ['ls', '-l'], timeout_ms: 5 } },
        { id: 'c4', name: 'shell', arguments: { commands: ['ls'] } },
        { id: 'c5', name: 'apply_patch', arguments: { type: 'delete_file', path: 'a.txt' } },
      ],
    })
    const first = await client.responses.create({ model: 'scripted', input: 'Go', tools })
    const asked = service.model.requests.at(-1)?.body.tools?.map(({ function: { name } }) => name)
    expect(asked).toEqual(['patch', 'team__ask', 'local_shell', 'shell', 'apply_patch'])
    expect(service.model.requests.at(-1)?.body.tools?.[0]?.function.description).toContain('start: "x"')
    expect(first.output).toMatchObject([
      { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: patch },
      { type: 'function_call', call_id: 'c2', namespace: 'team', name: 'ask', arguments: '{"who":"Ann"}' },
      { type: 'local_shell_call', call_id: 'c3', action: { type: 'exec', command: ['ls', '-l'], timeout_ms: 5 } },
      { type: 'shell_call', call_id: 'c4', action: { commands: ['ls'] } },
      { type: 'apply_patch_call', call_id: 'c5', operation: { type: 'delete_file', path: 'a.txt' } },
    ])
    const outputs: OpenAI.Responses.ResponseInputItem[] = [
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'patched' },
      { type: 'function_call_output', call_id: 'c2', output: 'Ann says yes' },
      { type: 'local_shell_call_output', id: 'c3', output: 'total 0' },
      {
        type: 'shell_call_output',
        call_id: 'c4',
        output: [{ stdout: 'a', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      },
      { type: 'apply_patch_call_output', call_id: 'c5', status: 'completed', output: 'gone' },
    ]
    const said = ['patched', 'Ann says yes', 'total 0', expect.stringContaining('"stdout":"a"'), 'completed: gone']
    const resultsOf = () =>
      service.model.requests.at(-1)?.body.messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []))
    service.model.reply({ text: 'Done' })
    const second = await client.responses.create({
      model: 'scripted',
      tools,
      previous_response_id: first.id,
      input: outputs,
    })
    expect(second.output_text).toBe('Done')
    expect(resultsOf()).toEqual(said)
    const items = await client.responses.inputItems.list(second.id, { order: 'asc' })
    expect(items.data.map(({ type }) => type)).toEqual(outputs.map(({ type }) => type))
    // A client that keeps the conversation itself sends all items again.
    service.model.reply({ text: 'Again' })
    const all = [{ role: 'user', content: 'Go' }, ...first.output, ...outputs] as OpenAI.Responses.ResponseInput
    const third = await client.responses.create({ model: 'scripted', tools, input: all })
    expect(resultsOf()).toEqual(said)
    const calls = service.model.requests.at(-1)?.body.messages.flatMap(({ tool_calls: made = [] }) => made)
    expect(calls?.map(({ function: { name } }) => name)).toEqual(asked)
    // They are shown as they were given, also where no tools are named.
    const kinds = [...first.output, ...outputs].map(({ type }) => type)
    const shown = await client.responses.inputItems.list(third.id, { order: 'asc' })
    expect(shown.data.slice(1).map(({ type }) => type)).toEqual(kinds)
    const conversation = await client.conversations.create({ items: all })
    const kept = await client.conversations.items.list(conversation.id, { order: 'asc' })
    expect(kept.data.slice(1)).toMatchObject(
      [...first.output, ...outputs].map(({ type }, index) => (index === 1 ? { type, namespace: 'team' } : { type })),
    )
  })

  it('stand in their conversation as their response has shown them', async () => {
    const { client } = await v1Client(service)
    const conversation = await client.conversations.create()
    const at = { conversation_id: conversation.id }
    const asked = { model: 'scripted', conversation: conversation.id }
    const call = { name: 'patch', arguments: { input: patch } }
    service.model.reply({ toolCalls: [{ id: 'c1', ...call }] })
    const first = await client.responses.create({ ...asked, input: 'Go', tools: [{ type: 'custom', name: 'patch' }] })
    const id = first.output[0]?.id ?? ''
    expect(id).toMatch(/^ctc_/)
    expect(await client.conversations.items.retrieve(id, at)).toEqual(first.output[0])
    const missing = client.conversations.items.retrieve(id.replace(/\d$/, '9'), at)
    await expect(missing).rejects.toMatchObject({ status: 404 })
    // The next response has a function of the same name.
    service.model.reply({ toolCalls: [{ id: 'c2', ...call }] })
    const second = await client.responses.create({
      ...asked,
      input: [{ type: 'custom_tool_call_output', call_id: 'c1', output: 'patched' }],
      tools: [{ type: 'function', name: 'patch', parameters: { type: 'object' }, strict: false }],
    })
    const { data } = await client.conversations.items.list(conversation.id, { order: 'asc' })
    expect(data).toMatchObject([
      { type: 'message' },
      first.output[0],
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'patched' },
      second.output[0],
    ])
    expect(second.output).toMatchObject([{ type: 'function_call', id: expect.stringMatching(/^fc_/) }])
    await client.responses.delete(first.id)
    const removed = client.responses.retrieve(first.id)
    await expect(removed).rejects.toMatchObject({ status: 404 })
    const deletedAgain = client.responses.delete(first.id)
    await expect(deletedAgain).rejects.toMatchObject({ status: 404 })
    await client.responses.delete(second.id)
    expect((await client.conversations.items.list(conversation.id, { order: 'asc' })).data).toEqual(data)
  })

  it('stream the text of a custom tool', async () => {
    const { client } = await v1Client(service)
    service.model.reply({ toolCalls: [{ id: 'c1', name: 'patch', arguments: ['{"input": "*** Begin', ' Patch"}'] }] })
    const events: Event[] = []
    const tools: Create['tools'] = [{ type: 'custom', name: 'patch' }]
    for await (const event of await client.responses.create({ model: 'scripted', input: 'Go', tools, stream: true }))
      events.push(event)
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, index) => index))
    expect([...new Set(events.map(({ type }) => type))]).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.custom_tool_call_input.delta',
      'response.custom_tool_call_input.done',
      'response.output_item.done',
      'response.completed',
    ])
    const text = events.map((event) => (event.type === 'response.custom_tool_call_input.delta' ? event.delta : ''))
    expect(text.join('')).toBe('*** Begin Patch')
  })

  it('leave a web search out where there is no search service, and say so', async () => {
    const { client } = await v1Client(service)
    service.model.reply({ text: 'From memory' })
    const response = await client.responses.create({ model: 'scripted', input: 'Go', tools: [{ type: 'web_search' }] })
    expect(response).toMatchObject({
      output_text: 'From memory',
      warnings: [{ code: 'tool_left_out', param: 'tools[0]', message: expect.stringContaining('web_search') }],
    })
    expect(service.model.requests.at(-1)?.body.tools).toBeUndefined()
  })
})
