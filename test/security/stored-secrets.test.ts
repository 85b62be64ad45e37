import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { conversation, readRun } from '../runs/support.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { everythingIn } from '../support/everything-in.ts'
import { startHttpServer } from '../support/http-server.ts'
import { startMcpServer } from '../support/mcp-server.ts'
import { useModelService } from '../support/model-service.ts'
import { rawDatabase, rawRedis } from '../support/stores.ts'

const unique = (name: string) => `${name}-${randomBytes(9).toString('hex')}`
const secrets = {
  publicToken: unique('public-token'),
  httpHeader: unique('http-header'),
  mcpHeader: unique('mcp-header'),
  ownMember: unique('own-member'),
  accountKey: unique('sk-account-key'),
}
/** What the scans must find, so that finding no secret means something. */
const spoken = unique('what-the-model-said')

describe('the secrets of an assistant', () => {
  let tool: Awaited<ReturnType<typeof startHttpServer>>
  let mcp: Awaited<ReturnType<typeof startMcpServer>>
  const arrived: string[] = []
  const logged: string[] = []
  beforeAll(async () => {
    tool = await startHttpServer((request, response) => {
      arrived.push(String(request.headers['x-key']))
      response.end('fine')
    })
    mcp = await startMcpServer({
      authorization: `Bearer ${secrets.mcpHeader}`,
      register: (server) => void server.registerTool('look', {}, () => ({ content: [{ type: 'text', text: 'fine' }] })),
    })
  })
  afterAll(async () => {
    await tool.close()
    await mcp.close()
  })
  const service = useModelService({
    env: { OUTBOUND_ALLOW: '127.0.0.1', LOG_LEVEL: 'trace' },
    onLog: (line) => void logged.push(line),
  })

  it('are in no store, history, log or answer of others', async () => {
    const config = {
      'type==agent/access_mode': 'public_token',
      'type==agent/public_token': secrets.publicToken,
      'type==agent/tools': [
        {
          type: 'http_request',
          config: { headers: { 'x-key': secrets.httpHeader }, allowed_hosts: [new URL(tool.url).host] },
        },
        { type: 'mcp', config: { name: 'm', url: mcp.url, headers: { authorization: `Bearer ${secrets.mcpHeader}` } } },
      ],
      'my own settings': { key: secrets.ownMember },
    }
    const talk = await conversation(service, config)
    const { client: owner, assistantId } = talk
    const path = `/assistants/${assistantId}`
    await owner.put(path, { name: 'Helper', config, public: true })
    const account = await owner.put(`${path}/compat-account`, {
      api_key: secrets.accountKey,
      base_url: service.model.url,
    })
    const callTools = () => {
      service.model.reply({
        toolCalls: [
          { name: 'http_request', arguments: { method: 'GET', url: tool.url } },
          { name: 'm_look', arguments: {} },
        ],
      })
      service.model.reply({ text: spoken })
    }
    callTools()
    const ownRun = await talk.stream('Go')
    callTools()
    const caller = apiClient(service.url, secrets.publicToken)
    const input = [{ type: 'human', content: 'Go' }]
    const publicRun = await readRun(
      await caller.fetch('POST', '/public/runs/stream', { assistant_id: assistantId, input }),
    )
    expect([ownRun.end, publicRun.end]).toEqual(['end', 'end'])
    expect(arrived).toEqual([secrets.httpHeader, secrets.httpHeader])
    expect((await owner.get(path)).config).toEqual(config)

    const stranger = apiClient(service.url)
    const answers = {
      account,
      ownRun,
      publicRun,
      read: await stranger.get(path),
      listed: await stranger.get('/assistants/public/'),
      debug: await owner.get(`/runs/debug/assistant/${assistantId}`),
      refused: await owner.call('POST', '/assistants/', { name: 'second', config }),
      compat: await caller.get('/public/compat/v1/assistants'),
    }
    expect(answers.refused.status).toBe(422)
    const { public_token: renewed } = await owner.post(`${path}/public-token`)
    expect((await caller.call('GET', '/public/compat/v1/assistants')).status).toBe(401)
    await apiClient(service.url, renewed).get('/public/compat/v1/assistants')

    const histories = await eventually('the history of the thread', async () => {
      const found = []
      for await (const { workflowId } of service.temporal.workflow.list({ query: `UserId = "${owner.userId}"` }))
        found.push(await service.temporal.workflow.getHandle(workflowId).fetchHistory())
      return found.length >= 2 ? found : undefined
    })
    const places = {
      answers,
      histories,
      logged,
      database: await rawDatabase(service),
      redis: await rawRedis(service),
      asked: service.model.requests.map(({ body }) => body),
    }
    for (const [place, content] of Object.entries(places)) {
      const text = everythingIn(content)
      for (const [name, secret] of Object.entries({ ...secrets, renewed: String(renewed) }))
        for (const form of formsOf(secret)) expect(text.includes(form), `${name} in ${place}`).toBe(false)
    }
    expect(everythingIn(places.database)).toContain(spoken)
    expect(everythingIn(places.redis)).toContain(spoken)
    expect(everythingIn(places.answers)).toContain(spoken)
    expect(everythingIn(places.histories)).toContain(ownRun.runId)
    expect(everythingIn(places.logged)).toContain('assistants.publicToken.renew')
  })
})

/** As it is, as bytes are written, and as a plain hash of it, from which a weak one could be guessed. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const hash = createHash('sha256').update(secret).digest()
  // Base64 of three places within a longer text.
  const within = [0, 1, 2].map((offset) =>
    bytes
      .subarray(offset, offset + 24)
      .toString('base64')
      .slice(0, -4),
  )
  return [
    secret,
    bytes.toString('hex'),
    ...within,
    ...(['hex', 'base64', 'base64url'] as const).map((as) => hash.toString(as)),
  ]
}
