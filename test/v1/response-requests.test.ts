import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { foundTextOf, foundTools } from '../../api/routes/v1/responses/found-tools.ts'
import { InputItem } from '../../api/routes/v1/responses/input-schemas.ts'
import { readInput } from '../../api/routes/v1/responses/read-input.ts'
import { readTools } from '../../api/routes/v1/responses/read-tools.ts'
import type { RequestTool } from '../../api/routes/v1/responses/tool-schemas.ts'
import { AppError } from '../../domain/errors.ts'
import { inputAfterSummary, saidIn, splitForSummary } from '../../services/v1/responses/compaction.ts'
import { summaryMessage } from '../../services/v1/responses/find-items.ts'

const loc = ['body', 'input']
const listed = { name: 'add', description: 'Adds', input_schema: { type: 'object' }, annotations: null }

/** What is wrong, as the caller is told. */
function refusalFrom(work: () => unknown) {
  try {
    work()
  } catch (error) {
    if (error instanceof AppError) return error.fields?.[0]
    throw error
  }
  throw new Error('nothing was refused')
}

describe('a summary', () => {
  const call = (id: string) => ({ id, name: 'draw', args: {}, type: 'tool_call' as const })
  const result = (id: string) => ({
    type: 'ToolMessage' as const,
    data: { id: `r-${id}`, content: '', tool_call_id: id },
  })
  const answer = { type: 'AIMessage' as const, data: { id: 'a', content: '', tool_calls: [call('c1'), call('c2')] } }

  it('leaves calls beside the results that the next request brings', () => {
    const input = [{ message: result('c2') }]
    expect(inputAfterSummary([answer, result('c1')], input)).toEqual([
      { message: { type: 'AIMessage', data: { id: '', content: '', tool_calls: [call('c2')] } } },
      ...input,
    ])
    const question = [{ message: { type: 'HumanMessage' as const, data: { id: '', content: 'And?' } } }]
    expect(inputAfterSummary([answer, result('c1')], question)).toEqual(question)
  })

  it('stands for the summaries before it', () => {
    const said = { type: 'HumanMessage' as const, data: { id: 'm', content: 'I am Ann.' } }
    expect(saidIn([said, summaryMessage('Ann was here.'), answer, said])).toEqual([said])
  })
})

describe('the input of a response', () => {
  it('takes back what a response has listed of MCP servers, and no such list as tools', () => {
    const item = { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 'sums', tools: [listed] }
    expect(Value.Check(InputItem, item)).toBe(true)
    expect(readInput([item], loc)).toEqual([])
    expect(foundTools([item], undefined)).toEqual([])
    const brought = { type: 'additional_tools', tools: [listed] }
    expect(refusalFrom(() => foundTools([brought], undefined))).toEqual({
      loc: ['body', 'input', 0, 'tools', 0, 'type'],
      msg: 'is required',
      type: 'missing',
    })
    // What has a type is a tool with all its rules.
    expect(Value.Check(InputItem, { ...brought, tools: [{ ...listed, type: 5 }] })).toBe(false)
    expect(Value.Check(InputItem, { ...brought, tools: [{ ...listed, type: 'function', parameters: 5 }] })).toBe(false)
  })

  it('keeps what a client has found for the next response, but no keys', () => {
    const found = (...tools: RequestTool[]) => [{ type: 'tool_search_output', call_id: 'c', tools }]
    const add: RequestTool = { type: 'function', name: 'add' }
    const server: RequestTool = { type: 'mcp', server_label: 'a', authorization: 'key' }
    const text = foundTextOf(found(add, server), undefined)
    expect(JSON.parse(text ?? '')).toEqual([add])
    const more: RequestTool = { type: 'function', name: 'more' }
    expect(JSON.parse(foundTextOf(found(more, add), text) ?? '')).toEqual([more, add])
    expect(foundTools('Hi', text)).toEqual([{ tool: add, loc: ['body', 'previous_response_id'] }])
    expect(foundTextOf('Hi', undefined)).toBe(undefined)
  })

  it('reads a thought with what comes after it, and of what was summarised only what people have said', () => {
    const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' }
    const thought = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] }
    const said = { role: 'user' as const, content: 'Hi' }
    expect(readInput([thought, { ...thought, encrypted_content: 'sealed' }, call, said], loc)).toMatchObject([
      { message: { type: 'AIMessage' }, thought: { sealed: 'sealed', text: 'Hm.' } },
      { message: { type: 'HumanMessage' } },
    ])
    const summary = { type: 'compaction', encrypted_content: 'sealed' }
    expect(readInput([said, call, summary, call], loc)).toMatchObject([
      { message: { type: 'HumanMessage' } },
      { summary: 'sealed' },
      { message: { type: 'AIMessage' } },
    ])
  })

  it('takes images in results of tools, and not in what the model says', () => {
    const output = [
      { type: 'input_text', text: 'The picture: ' },
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
    ]
    const entries = readInput([{ type: 'function_call_output', call_id: 'c1', output }], loc)
    expect(entries).toMatchObject([{ callId: 'c1', parts: [{ type: 'text' }, { type: 'image_url' }] }])
    // It goes with its call, and does not stay like what people say.
    const call = { type: 'function_call', call_id: 'c1', name: 'draw', arguments: '{}' }
    const result = { type: 'function_call_output', call_id: 'c1', output }
    const asked = { role: 'user' as const, content: 'Draw' }
    const summary = { type: 'compaction', encrypted_content: 'sealed' }
    expect(readInput([call, result, summary, asked], loc)).toMatchObject([{ summary: 'sealed' }, { message: {} }])
    const { before, rest } = splitForSummary(readInput([asked, call, result], loc))
    expect([before.length, rest.length]).toEqual([1, 2])
    const said = { type: 'message', role: 'assistant' as const, content: output }
    expect(refusalFrom(() => readInput([said], loc))).toMatchObject({ type: 'unsupported' })
  })
})

describe('the tools of a response', () => {
  const functions = (namespace: number, count: number): RequestTool => ({
    type: 'namespace',
    name: `n${namespace}`,
    tools: Array.from({ length: count }, (_, index) => ({ type: 'function', name: `f${index}` })),
  })

  it('hold at most 1,000 functions, with those of namespaces', () => {
    const most = Array.from({ length: 10 }, (_, index) => functions(index, 100))
    expect(readTools(most).functions).toHaveLength(1000)
    const repeated = { tool: functions(0, 100), loc: ['body', 'input', 0, 'tools', 0] }
    expect(readTools(most, [repeated]).functions).toHaveLength(1000)
    const tooMany = 'can hold 1000 functions at most, with those of namespaces'
    expect(refusalFrom(() => readTools([...most, functions(10, 1)]))).toMatchObject({
      loc: ['body', 'tools'],
      msg: tooMany,
    })
    const added = { ...repeated, tool: functions(10, 1) }
    expect(refusalFrom(() => readTools(most, [added]))).toMatchObject({ msg: tooMany })
  })

  it('name at most 16 MCP servers', () => {
    const servers = Array.from({ length: 17 }, (_, index) => ({
      type: 'mcp',
      server_label: `s${index}`,
      server_url: 'https://example.com',
      require_approval: 'never',
    }))
    expect(readTools(servers.slice(1)).servers).toHaveLength(16)
    expect(refusalFrom(() => readTools(servers))).toMatchObject({
      loc: ['body', 'tools'],
      msg: 'can name 16 MCP servers at most',
    })
  })
})
