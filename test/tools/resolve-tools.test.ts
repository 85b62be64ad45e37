import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Person,
  type PersonKind,
  type ToolType,
  personKinds,
  runOrigins,
  toolRights,
  toolTypes,
} from '../../domain/acting.ts'
import { type ToolSetting, readAssistantConfig } from '../../domain/assistant-config.ts'
import { toolName } from '../../domain/client-tools.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { SearchAccount } from '../../domain/search-account.ts'
import { createOutbound } from '../../infra/outbound/create-outbound.ts'
import { memberNamed, personNamed } from '../../services/person-named.ts'
import type { Tool } from '../../services/tool.ts'
import { type WantedTools, createTools } from '../../services/tools/index.ts'
import { startMcpServer } from '../support/mcp-server.ts'

const byOwner = { person: 'owner', origin: 'chat' } as const

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

  const retrieval = (name: string, type = 'retrieval'): Tool => ({
    type,
    name,
    description: '',
    parameters: {},
    safeToRepeat: true,
    timeoutMs: 1,
    execute: async () => '',
  })
  /** For whom the tools act that act for somebody. */
  let persons: Person[] = []
  /** The servers for which the login of the assistant was asked. */
  let loginsAsked: string[] = []
  const actingFor = (type: string, name: string, person: Person) => {
    persons.push(person)
    return retrieval(name, type)
  }
  const resolve = (
    tools: ToolSetting[],
    {
      files = false,
      search,
      ...wanted
    }: { files?: boolean; search?: SearchAccount } & Partial<Omit<WantedTools, 'search'>> = {},
  ) =>
    createTools({
      catalogue: [],
      assistantConfigs: { settingsOf: ({ sealed_config: text = '{}' }) => readAssistantConfig(text) },
      outbound,
      models: { current: () => ({ search }) },
      fetch,
      retrieval: async (_assistant, { name }) => (files ? retrieval(name) : undefined),
      schedule: (_assistant, name, person) => actingFor('schedule', name, person),
      memory: (_assistant, { name, person }) => actingFor('memory', name, person),
      code: async (_assistant, name) => ({ ...retrieval(name), type: 'code' }),
      mcpAuthorization: async (_assistant, url) => {
        loginsAsked.push(url)
        return undefined
      },
      askable: async (_assistant, ids) => ids.map((id) => ({ id, name: id, description: '' })),
    }).resolve(assistantWith({ 'type==agent/tools': tools }), new AbortController().signal, {
      acting: byOwner,
      ...wanted,
    })

  const personOf: Record<PersonKind, Person> = {
    owner: 'owner',
    member: memberNamed('ada'),
    person: personNamed('ada'),
    nameless: 'nameless',
  }
  const everyTool = (): Record<ToolType, ToolSetting> => ({
    retrieval: { type: 'retrieval' },
    http_request: { type: 'http_request' },
    mcp: { type: 'mcp', config: { name: 'x', url: server.url } },
    web_search: { type: 'web_search' },
    schedule: { type: 'schedule' },
    memory: { type: 'memory' },
    assistant: { type: 'assistant', config: { assistant_ids: ['other'] } },
    code: { type: 'code' },
    client: { type: 'client', name: 'of_client' },
  })

  it.each(runOrigins.flatMap((origin) => personKinds.map((kind) => ({ origin, kind }))))(
    'are what a run of the origin $origin may use for $kind, configured or brought, and act for nobody else',
    async ({ origin, kind }) => {
      const person = personOf[kind]
      const settings = everyTool()
      persons = []
      const { tools, problems } = await resolve(Object.values(settings), {
        files: true,
        search: { provider: 'searxng', baseUrl: 'http://search', apiKey: undefined },
        acting: { person, origin },
        functions: [{ name: 'brought' }],
      })
      expect(problems).toEqual([])
      const allowed = toolTypes.filter((type) => toolRights[type][origin].includes(kind))
      const ofAssistant = tools.filter(({ name }) => name !== 'brought')
      expect(ofAssistant.map(({ type }) => type).toSorted()).toEqual(allowed.toSorted())
      expect(tools.some(({ name }) => name === 'brought')).toBe(origin === 'chat' || origin === 'public')
      expect(new Set(persons)).toEqual(allowed.includes('memory') ? new Set([person]) : new Set())
      // A request that adds tools has no more rights.
      const added = await resolve([], { acting: { person, origin }, added: [settings.schedule, settings.memory] })
      expect(added.tools.map(({ type }) => type)).toEqual(
        (['schedule', 'memory'] as const).filter((type) => allowed.includes(type)),
      )
    },
  )

  it('have the login of their assistant, but neither with a key of their own nor where a request brings them', async () => {
    const mcp = (headers?: object): ToolSetting => ({
      type: 'mcp',
      config: { name: 'x', url: server.url, ...(headers && { headers }) },
    })
    loginsAsked = []
    expect((await resolve([mcp()])).problems).toEqual([])
    expect(loginsAsked).toEqual([server.url])
    loginsAsked = []
    expect((await resolve([mcp({ Authorization: 'Bearer own' })], { added: [mcp()] })).tools).toHaveLength(2)
    expect(loginsAsked).toEqual([])
  })

  it('give nobody rights that the pages about them do not name', () => {
    const limited = toolTypes.filter((type) =>
      runOrigins.some((origin) => toolRights[type][origin].length < personKinds.length),
    )
    expect(Object.fromEntries(limited.map((type) => [type, toolRights[type]]))).toEqual({
      memory: {
        chat: ['owner', 'person'],
        public: ['person'],
        asked: ['owner', 'person'],
        scheduled: ['owner', 'person'],
        mcp: ['owner', 'person'],
      },
      schedule: { chat: ['owner', 'person'], public: [], asked: [], scheduled: [], mcp: ['owner'] },
      client: { chat: ['owner', 'member', 'person', 'nameless'], public: [], asked: [], scheduled: [], mcp: [] },
    })
  })

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
      { files: true, search: { provider: 'searxng', baseUrl: 'http://search', apiKey: undefined } },
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
    sealed_config: JSON.stringify(config),
    public: false,
    access_mode: 'authenticated',
    allowed_origins: [],
    has_files: false,
    created_at: now,
    updated_at: now,
  }
}
