import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { InputItem } from '../../api/routes/v1/responses/input-schemas.ts'
import { readInput, toolsOfInput } from '../../api/routes/v1/responses/read-input.ts'
import { readTools } from '../../api/routes/v1/responses/read-tools.ts'
import type { RequestTool } from '../../api/routes/v1/responses/tool-schemas.ts'
import { AppError } from '../../domain/errors.ts'

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

describe('the input of a response', () => {
  it('takes back what a response has listed of MCP servers, and no such list as tools', () => {
    const item = { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 'sums', tools: [listed] }
    expect(Value.Check(InputItem, item)).toBe(true)
    expect(readInput([item], loc)).toEqual([])
    expect(toolsOfInput([item], loc)).toEqual([])
    const brought = { type: 'additional_tools', tools: [listed] }
    expect(refusalFrom(() => toolsOfInput([brought], loc))).toEqual({
      loc: ['body', 'input', 0, 'tools', 0, 'type'],
      msg: 'is required',
      type: 'missing',
    })
    // What has a type is a tool with all its rules.
    expect(Value.Check(InputItem, { ...brought, tools: [{ ...listed, type: 5 }] })).toBe(false)
    expect(Value.Check(InputItem, { ...brought, tools: [{ ...listed, type: 'function', parameters: 5 }] })).toBe(false)
  })

  it('says of an image that a tool has answered with that it was here', () => {
    const output = [
      { type: 'input_text', text: 'The picture: ' },
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
    ]
    const entries = readInput([{ type: 'function_call_output', call_id: 'c1', output }], loc)
    expect(entries).toMatchObject([
      {
        message: { type: 'ToolMessage', data: { content: expect.stringMatching(/^The picture: \[An image was here/) } },
      },
    ])
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
