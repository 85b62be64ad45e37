import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ToolSetting, readAssistantConfig } from '../../domain/assistant-config.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { createOutbound } from '../../infra/outbound/create-outbound.ts'
import { createTools } from '../../services/tools/index.ts'
import { toolName } from '../../services/tools/tool-name.ts'
import type { Tool } from '../../services/tools/tool.ts'
import { startMcpServer } from '../support/mcp-server.ts'

describe('the tools of an assistant', () => {
  let server: Awaited<ReturnType<typeof startMcpServer>>
  const outbound = createOutbound({ outboundAllow: ['127.0.0.1'] })
  beforeAll(async () => {
    server = await startMcpServer({ register: (mcp) => void mcp.registerTool('one', {}, () => ({ content: [] })) })
  })
  afterAll(async () => {
    await server.close()
    await outbound.close()
  })

  const retrieval = (name: string): Tool => ({
    type: 'retrieval',
    name,
    description: '',
    parameters: {},
    safeToRepeat: true,
    timeoutMs: 1,
    execute: async () => '',
  })
  const resolve = (tools: ToolSetting[], { files = false, search = {} } = {}) =>
    createTools({
      assistantConfigs: { settingsOf: ({ config_json: text = '{}' }) => readAssistantConfig(text) },
      outbound,
      search,
      retrieval: async (_assistant, name) => (files ? retrieval(name) : undefined),
      schedule: (_assistant, name) => retrieval(name),
      memory: (_assistant, { name }) => retrieval(name),
      askable: async () => [],
    }).resolve(assistantWith({ 'type==agent/tools': tools }), new AbortController().signal)

  it('are those of its configuration, and retrieval if there are files', async () => {
    expect(await resolve([])).toEqual({ tools: [], problems: [], warnings: [] })
    expect((await resolve([], { files: true })).tools).toMatchObject([{ name: 'retrieval' }])
    const all = await resolve(
      [
        { type: 'retrieval', name: 'my files' },
        { type: 'http_request' },
        { type: 'http_request' },
        { type: 'mcp', config: { name: 'x', url: server.url } },
        { type: 'web_search' },
      ],
      { files: true, search: { searchProvider: 'searxng', searchUrl: 'http://search' } },
    )
    expect(all.tools.map(({ name }) => name)).toEqual([
      'my_files',
      'http_request',
      'http_request_2',
      'x_one',
      'web_search',
    ])
    expect(all.problems).toEqual([])
  })

  it('leave out one that cannot be used, with the reason', async () => {
    const { tools, problems } = await resolve([
      { type: 'mcp', config: { name: 'gone', url: 'http://127.0.0.1:9/', headers: { key: 'secret-value' } } },
      { type: 'mcp', config: { url: 'x' } },
      { type: 'http_request', config: { headers: { key: 5 } } },
      { type: 'web_search' },
      { type: 'http_request', name: 'fine' },
    ])
    expect(tools.map(({ name }) => name)).toEqual(['fine'])
    expect(problems.map(({ type }) => type)).toEqual(['mcp', 'mcp', 'http_request', 'web_search'])
    expect(problems[1]?.problem).toContain('name')
    expect(problems[2]?.problem).toContain('config/headers/key')
    expect(JSON.stringify(problems)).not.toContain('secret-value')
  })

  it('warn about headers that are not sent', async () => {
    const { tools, problems, warnings } = await resolve([
      { type: 'http_request', config: { headers: { key: 'secret-value' } } },
      { type: 'http_request', name: 'bad', config: { allowed_hosts: ['https://example.com/'] } },
    ])
    expect(tools.map(({ name }) => name)).toEqual(['http_request'])
    expect(problems).toEqual([
      { type: 'http_request', name: 'bad', problem: expect.stringContaining('config/allowed_hosts/0') },
    ])
    expect(warnings).toEqual([
      { type: 'http_request', name: 'http_request', warning: expect.stringContaining('not sent') },
    ])
  })

  it('have names that models can call', () => {
    expect(toolName('a b/c.d')).toBe('a_b_c_d')
    const long = 'n'.repeat(80)
    expect(toolName(`${long}1`)).toHaveLength(64)
    expect(toolName(`${long}1`)).not.toBe(toolName(`${long}2`))
  })
})

function assistantWith(config: object): AssistantRecord {
  const now = new Date(0)
  return {
    _id: 'a',
    user_id: 'u',
    project_id: 'p',
    name: 'n',
    config_json: JSON.stringify(config),
    public: false,
    access_mode: 'authenticated',
    allowed_origins: [],
    created_at: now,
    updated_at: now,
  }
}
