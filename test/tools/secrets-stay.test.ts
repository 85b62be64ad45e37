import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { threadContract } from '../../domain/contracts/thread.ts'
import { conversation } from '../runs/support.ts'
import { historyText } from '../support/histories.ts'
import { startHttpServer } from '../support/http-server.ts'
import { startMcpServer } from '../support/mcp-server.ts'
import { useModelService } from '../support/model-service.ts'

const httpSecret = 'http-secret-4711'
const mcpSecret = 'mcp-secret-4712'

/** Both servers send back whatever they are sent, and the third is not there: what leaks anywhere, leaks here. */
describe('the keys of a tool configuration', () => {
  let echo: Awaited<ReturnType<typeof startHttpServer>>
  let mcp: Awaited<ReturnType<typeof startMcpServer>>
  const got: string[] = []
  const logged: string[] = []

  beforeAll(async () => {
    echo = await startHttpServer((request, response) => {
      got.push(String(request.headers['x-key']))
      response.setHeader('content-type', 'application/json').end(JSON.stringify(request.headers))
    })
    mcp = await startMcpServer({
      authorization: `Bearer ${mcpSecret}`,
      register: (server) =>
        void server.registerTool('echo', {}, (extra) => ({
          content: [{ type: 'text', text: JSON.stringify(extra.requestInfo?.headers) }],
        })),
    })
  })
  afterAll(async () => {
    await echo.close()
    await mcp.close()
  })
  const service = useModelService({
    env: { OUTBOUND_ALLOW: '127.0.0.1', LOG_LEVEL: 'trace' },
    onLog: (line) => void logged.push(line),
  })

  it('are sent to the tool only: no message, event, history, log or description contains them', async () => {
    const talk = await conversation(service, {
      'type==agent/tools': [
        {
          type: 'http_request',
          config: { allowed_hosts: [new URL(echo.url).host, '10.0.0.1'], headers: { 'x-key': httpSecret } },
        },
        { type: 'mcp', config: { name: 'm', url: mcp.url, headers: { authorization: `Bearer ${mcpSecret}` } } },
        { type: 'mcp', config: { name: 'gone', url: 'http://127.0.0.1:9/', headers: { 'x-key': httpSecret } } },
      ],
    })
    service.model.reply({
      toolCalls: [
        { name: 'http_request', arguments: { method: 'GET', url: echo.url } },
        { name: 'm_echo', arguments: {} },
        { name: 'http_request', arguments: { method: 'GET', url: 'http://10.0.0.1/' } },
      ],
    })
    service.model.reply({ text: 'Done.' })
    const run = await talk.stream('Go')
    expect(run.end).toBe('end')
    expect(got).toEqual([httpSecret])

    const messages = await talk.messages()
    const answers = messages.filter(({ type }) => type === 'ToolMessage').map(({ data }) => data.content)
    expect(answers).toEqual([
      expect.stringContaining('[hidden]'),
      expect.stringContaining('[hidden]'),
      expect.stringContaining('is not allowed'),
    ])
    const history = await service.temporal.workflow
      .getHandle(threadContract.id({ threadId: talk.threadId }))
      .fetchHistory()
    const stream = await service.redis.xRange(`run:{${run.runId}}:stream`, '-', '+')
    const debug = await talk.client.get(`/runs/debug/assistant/${talk.assistantId}`)
    expect(stream).not.toEqual([])
    expect(logged.join('')).toContain('a tool cannot be used')
    const trial = await talk.client.post(`/assistants/${talk.assistantId}/tools/try`, { name: 'm_echo' })
    expect(trial).toMatchObject({ outcome: 'answered', content: expect.stringContaining('[hidden]') })
    const places = {
      run,
      trial,
      messages,
      stream,
      debug,
      history: historyText(history),
      logged,
      asked: service.model.requests.map(({ body }) => body),
    }
    for (const [place, content] of Object.entries(places)) {
      const text = JSON.stringify(content)
      for (const secret of [httpSecret, mcpSecret]) expect(text.includes(secret), place).toBe(false)
    }
  })
})
