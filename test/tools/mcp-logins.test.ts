import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { threadContract } from '../../domain/contracts/thread.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { createMcpLogins } from '../../services/mcp-logins/index.ts'
import { createSecretBox } from '../../services/secrets.ts'
import { joinProject } from '../projects/joined.ts'
import { conversation } from '../runs/support.ts'
import { historyText } from '../support/histories.ts'
import { sendJson, startHttpServer } from '../support/http-server.ts'
import { startMcpServer } from '../support/mcp-server.ts'
import { useModelService } from '../support/model-service.ts'
import { startOAuthMcpServer } from '../support/oauth-mcp-server.ts'
import { otherLetter } from '../support/other-letter.ts'
import { insertUser } from '../support/users.ts'

describe('logins at MCP servers', () => {
  let mcp: Awaited<ReturnType<typeof startOAuthMcpServer>>
  const logged: string[] = []
  beforeAll(async () => {
    mcp = await startOAuthMcpServer({
      register: (server) =>
        void server.registerTool('whoami', {}, (extra) => ({
          content: [{ type: 'text', text: `You are ${JSON.stringify(extra.requestInfo?.headers)}` }],
        })),
    })
  })
  afterAll(() => mcp.close())
  beforeEach(() => {
    Object.assign(mcp.seen, { lifetimeSeconds: 3600, canRenew: true })
  })
  const service = useModelService({
    env: { OUTBOUND_ALLOW: '127.0.0.1', LOG_LEVEL: 'trace' },
    onLog: (line) => void logged.push(line),
  })

  async function assistant(url = mcp.url) {
    const talk = await conversation(service, { 'type==agent/tools': [{ type: 'mcp', config: { name: 'm', url } }] })
    const path = `/assistants/${talk.assistantId}/mcp-logins`
    const problem = async () => {
      const { tool_problems: problems } = await talk.client.get(`/runs/debug/assistant/${talk.assistantId}`)
      return problems[0]?.problem
    }
    const stored = async () =>
      (await service.collections.assistants.findById(talk.assistantId).lean<AssistantRecord>())?.mcp_logins ?? []
    /** Calls the tool once, and says what came of it. */
    const tried = async (name = 'm_whoami'): Promise<{ outcome: string; content: string }> =>
      talk.client.post(`/assistants/${talk.assistantId}/tools/try`, { name })
    return { ...talk, path, problem, stored, tried }
  }
  type Talk = Awaited<ReturnType<typeof assistant>>

  /** What a browser does: it goes to the login server, and comes back with what that adds to the address. */
  async function back({ client, path }: Pick<Talk, 'client' | 'path'>, url = mcp.url, registered: object = {}) {
    const { redirect_to: target, attempt } = await client.post(path, { url, ...registered })
    const answer = await fetch(target, { redirect: 'manual' })
    const location = new URL(answer.headers.get('location') ?? '')
    const { code = '', state = '' } = Object.fromEntries(location.searchParams)
    return { target: new URL(target), location, returned: { attempt, code, state } }
  }

  async function connected(talk: Talk) {
    const { returned } = await back(talk)
    expect((await talk.client.call('PUT', talk.path, returned)).status).toBe(200)
  }

  it('let the assistant act; no message, event, history, log, answer or record contains their tokens', async () => {
    const talk = await assistant()
    expect(await talk.problem()).toBe('the MCP server answered with status 401: it asks for a login or another key')
    const { target, location, returned } = await back(talk)
    expect(Object.fromEntries(target.searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      resource: mcp.url,
      scope: 'mcp:tools',
      redirect_uri: expect.stringMatching(/\/console\/connected$/),
    })
    expect(location.href.split('?')[0]).toBe(target.searchParams.get('redirect_uri'))
    const login = await talk.client.call('PUT', talk.path, returned)
    expect(login.body).toMatchObject({ url: mcp.url, is_over: false })
    expect((await talk.client.get(talk.path)).logins).toEqual([login.body])

    service.model.reply({ toolCalls: [{ name: 'm_whoami', arguments: {} }] })
    service.model.reply({ text: 'Done.' })
    const run = await talk.stream('Who?')
    expect(run.end).toBe('end')
    const messages = await talk.messages()
    expect(messages.find(({ type }) => type === 'ToolMessage')?.data.content).toContain('[hidden]')
    const handle = service.temporal.workflow.getHandle(threadContract.id({ threadId: talk.threadId }))
    const places = {
      run,
      messages,
      logged,
      login,
      record: await talk.stored(),
      assistant: await talk.client.get(`/assistants/${talk.assistantId}`),
      debug: await talk.client.get(`/runs/debug/assistant/${talk.assistantId}`),
      history: historyText(await handle.fetchHistory()),
      stream: await service.redis.xRange(`run:{${run.runId}}:stream`, '-', '+'),
      asked: service.model.requests.map(({ body }) => body),
    }
    const secrets = [...mcp.seen.tokens, returned.code]
    expect(secrets.length).toBeGreaterThanOrEqual(3)
    for (const [place, content] of Object.entries(places))
      for (const secret of secrets) expect(JSON.stringify(content), place).not.toContain(secret)

    await talk.client.call('DELETE', `${talk.path}/${login.body.id}`)
    expect(await talk.stored()).toEqual([])
    expect(await talk.problem()).toContain('status 401')
    expect((await talk.client.call('DELETE', `${talk.path}/${login.body.id}`)).status).toBe(404)
  })

  it('are ended by the person and in the assistant where they were begun, once, with their own state', async () => {
    const [talk, other] = [await assistant(), await assistant()]
    const { returned } = await back(talk)
    const refused = async (client: Talk['client'], path: string, body: object) => {
      const answer = await client.call('PUT', path, body)
      return answer.status
    }
    const stranger = await insertUser(service)
    expect(await refused(stranger, talk.path, returned)).toBe(403)
    expect(await refused(other.client, other.path, returned)).toBe(400)
    const second = await talk.client.post('/assistants/', { name: 'Second' })
    expect(await refused(talk.client, `/assistants/${second.assistant_id}/mcp-logins`, returned)).toBe(400)
    expect(await refused(talk.client, talk.path, { ...returned, state: 'another' })).toBe(400)
    expect(await refused(talk.client, talk.path, { ...returned, iss: 'https://evil.example/' })).toBe(400)
    expect(
      await refused(talk.client, talk.path, {
        ...returned,
        attempt: returned.attempt.replace(
          /(?<=\.)[^.]+$/,
          (body: string) => otherLetter(body.slice(0, 1)) + body.slice(1),
        ),
      }),
    ).toBe(400)
    expect(await refused(talk.client, talk.path, { ...returned, code: 'guessed' })).toBe(400)
    expect(await talk.stored()).toEqual([])
    expect(await refused(talk.client, talk.path, { ...returned, iss: mcp.issuer })).toBe(200)
    expect(await refused(talk.client, talk.path, returned)).toBe(400)
    // Connecting again replaces the login.
    await connected(talk)
    expect(await talk.stored()).toHaveLength(1)
  })

  it('are renewed before they end, by one of those who ask at the same time; an end is said', async () => {
    const talk = await assistant()
    await connected(talk)
    // Now what was issued is over, as far as anybody can tell from the record.
    mcp.seen.lifetimeSeconds = 30
    await connected(talk)
    mcp.seen.lifetimeSeconds = 3600
    const before = mcp.seen.renewals
    expect(await Promise.all([1, 2, 3, 4].map(() => talk.problem()))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
    expect(mcp.seen.renewals).toBe(before + 1)
    expect(await talk.problem()).toBeUndefined()
    expect(mcp.seen.renewals).toBe(before + 1)

    mcp.seen.lifetimeSeconds = 30
    await connected(talk)
    mcp.seen.canRenew = false
    expect(await talk.problem()).toBe('the login at the MCP server has ended; connect it again')
    const { logins } = await talk.client.get(talk.path)
    expect(logins).toMatchObject([{ url: mcp.url, is_over: true }])
    expect(await talk.stored()).toEqual([expect.not.objectContaining({ sealed: expect.anything() })])
  })

  it('are renewed once where the server refuses them before their time, by one of those who ask; an end is said', async () => {
    const talk = await assistant()
    await connected(talk)
    service.model.reply({ toolCalls: [{ name: 'm_whoami', arguments: {} }] })
    service.model.reply({ text: 'Before.' })
    await talk.stream('Who?')
    const before = mcp.seen.renewals
    mcp.revoke()
    // The list of tools is known: the call is refused.
    service.model.reply({ toolCalls: [{ name: 'm_whoami', arguments: {} }] })
    service.model.reply({ text: 'After.' })
    await talk.stream('Who now?')
    const results = (await talk.messages()).filter(({ type }) => type === 'ToolMessage')
    expect(results).toHaveLength(2)
    for (const { data } of results) expect(data.content).toContain('You are')
    expect(results[1]?.data.content).toContain('[hidden]')
    for (const token of mcp.seen.tokens) expect(results[1]?.data.content).not.toContain(token)
    expect(mcp.seen.renewals).toBe(before + 1)

    mcp.revoke()
    for (const { outcome, content } of await Promise.all([1, 2, 3, 4].map(() => talk.tried())))
      expect([outcome, content]).toEqual(['answered', expect.stringContaining('You are')])
    expect(mcp.seen.renewals).toBe(before + 2)

    mcp.revoke()
    mcp.seen.canRenew = false
    expect(await talk.tried()).toMatchObject({
      outcome: 'failed',
      content: expect.stringContaining('the login at the MCP server has ended; connect it again'),
    })
    expect((await talk.client.get(talk.path)).logins).toMatchObject([{ url: mcp.url, is_over: true }])
  })

  it('are made by a client that a person has registered, where programs cannot register themselves', async () => {
    const known = {
      client_id: 'by-hand',
      client_secret: 'secret-of-the-client',
      redirect_uris: [`${service.settings.frontendUrl}/console/connected`],
    }
    const closed = await startOAuthMcpServer({
      clients: [known],
      register: (server) =>
        void server.registerTool('tides', {}, () => ({ content: [{ type: 'text', text: 'High' }] })),
    })
    onTestFinished(() => closed.close())
    const talk = await assistant(closed.url)
    const without = await talk.client.call('POST', talk.path, { url: closed.url })
    expect([without.status, without.text]).toEqual([400, expect.stringContaining('give its client id')])
    const { client_id, client_secret } = known
    const wrong = await back(talk, closed.url, { client_id, client_secret: 'another' })
    expect((await talk.client.call('PUT', talk.path, wrong.returned)).status).toBe(400)
    const { returned, target } = await back(talk, closed.url, { client_id, client_secret })
    expect(target.searchParams.get('client_id')).toBe('by-hand')
    expect(JSON.stringify(returned)).not.toContain(client_secret)
    expect((await talk.client.call('PUT', talk.path, returned)).status).toBe(200)
    expect(JSON.stringify(await talk.stored())).not.toContain(client_secret)
    expect(await talk.problem()).toBeUndefined()
    // It renews with the secret.
    closed.revoke()
    expect(await talk.tried('m_tides')).toMatchObject({ outcome: 'answered', content: 'High' })
    expect(closed.seen.renewals).toBe(1)

    // A login that has ended leaves the client: nobody has to look for it again.
    closed.revoke()
    closed.seen.canRenew = false
    await expect.poll(() => talk.problem()).toContain('has ended')
    expect((await talk.client.get(talk.path)).logins).toMatchObject([{ is_over: true }])
    Object.assign(closed.seen, { canRenew: true })
    const again = await back(talk, closed.url)
    expect(again.target.searchParams.get('client_id')).toBe('by-hand')
    expect((await talk.client.call('PUT', talk.path, again.returned)).body).toMatchObject({ is_over: false })
    expect(JSON.stringify(await talk.stored())).not.toContain(client_secret)
    expect(await talk.tried('m_tides')).toMatchObject({ outcome: 'answered', content: 'High' })
    // Who disconnects wants it gone.
    const [{ id }] = (await talk.client.get(talk.path)).logins
    await talk.client.call('DELETE', `${talk.path}/${id}`)
    expect((await talk.client.call('POST', talk.path, { url: closed.url })).status).toBe(400)
  })

  it('end with the person who made them: when he hands the project over, and when he leaves it', async () => {
    const talk = await assistant()
    await connected(talk)
    const { client: holder } = talk
    const [ada, eva] = [
      await joinProject(service, holder.projectId, 'owner'),
      await joinProject(service, holder.projectId, 'editor'),
    ]
    const second = await startOAuthMcpServer({ register: () => undefined })
    onTestFinished(() => second.close())
    const of = async () => {
      const { logins } = await ada.get(talk.path)
      return Object.fromEntries(logins.map(({ url, is_over: isOver }: any) => [url, isOver]))
    }
    const { returned } = await back({ client: eva, path: talk.path }, second.url)
    expect((await eva.call('PUT', talk.path, returned)).status).toBe(200)
    expect(await of()).toEqual({ [mcp.url]: false, [second.url]: false })
    const { status } = await holder.call('PUT', `/projects/${holder.projectId}/holder`, { member_id: ada.memberId })
    expect(status).toBe(200)
    expect(await of()).toEqual({ [mcp.url]: true, [second.url]: false })
    await ada.call('DELETE', `/projects/${holder.projectId}/members/${eva.memberId}`)
    expect(await of()).toEqual({ [mcp.url]: true, [second.url]: true })
  })

  it('are sealed again after a change of the key, and open for no other assistant or address', async () => {
    const [talk, other] = [await assistant(), await assistant()]
    await connected(talk)
    const newKey = Buffer.alloc(32, 7)
    const logins = (box: ReturnType<typeof createSecretBox>) =>
      createMcpLogins({
        collections: service.collections,
        assistants: service.api.services.assistants,
        outbound: service.api.infra.outbound,
        secretBox: box,
        redirectUri: 'https://console.example/console/connected',
      })
    const both = logins(createSecretBox(newKey, [service.settings.secretsKey]))
    expect(await both.reseal()).toBeGreaterThan(0)
    expect(await both.reseal()).toBe(0)
    const signal = AbortSignal.timeout(10_000)
    const record = { _id: talk.assistantId, mcp_logins: await talk.stored() }
    const after = logins(createSecretBox(newKey))
    expect(await after.authorizationFor(record, mcp.url, signal)).toMatch(/^Bearer access-/)
    expect(await after.authorizationFor(record, `${mcp.url}/other`, signal)).toBeUndefined()
    await service.collections.assistants.updateOne(
      { _id: other.assistantId },
      { $set: { mcp_logins: record.mcp_logins } },
    )
    await expect(after.authorizationFor({ ...record, _id: other.assistantId }, mcp.url, signal)).rejects.toThrow()
  })

  it.each([
    ['without a login', async () => startMcpServer({ register: () => undefined }), 'names no server'],
    [
      'whose login server calls itself another',
      async () => discovered((url) => ({ ...metadata(url), issuer: 'https://honest.example' })),
      'calls itself another',
    ],
    [
      'whose login server knows no PKCE',
      async () => discovered((url) => ({ ...metadata(url), code_challenge_methods_supported: ['plain'] })),
      'without PKCE',
    ],
    [
      'at which programs cannot register themselves',
      async () => discovered((url) => ({ ...metadata(url), registration_endpoint: undefined })),
      'cannot register',
    ],
    [
      'that leads into the own network',
      async () => discovered((url) => ({ ...metadata(url), registration_endpoint: 'http://10.0.0.1/register' })),
      'is not allowed',
    ],
  ])('are refused at a server %s', async (_what, start, reason) => {
    const server = await start()
    onTestFinished(() => server.close())
    const talk = await assistant(server.url)
    const answer = await talk.client.call('POST', talk.path, { url: server.url })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.status).toBeLessThan(500)
    expect(answer.text).toContain(reason)
  })
})

const metadata = (url: string) => ({
  issuer: url,
  authorization_endpoint: `${url}/authorize`,
  token_endpoint: `${url}/token`,
  registration_endpoint: `${url}/register`,
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
})

/** A server with this description of its login server. */
async function discovered(describe: (url: string) => object) {
  const server = await startHttpServer((request, response) => {
    if (request.url === '/.well-known/oauth-authorization-server') return sendJson(response, 200, describe(server.url))
    response.writeHead(request.url === '/mcp' ? 401 : 404).end()
  })
  return { ...server, url: `${server.url}/mcp` }
}
