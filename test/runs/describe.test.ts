import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'
import { insertUser } from '../support/users.ts'
import { conversation } from './support.ts'

describe('the descriptions of runs', () => {
  const service = useStarted(() =>
    startService({ worker: false, env: { OPENAI_API_KEY: 'test', DEFAULT_MODEL: 'standard' } }),
  )

  it('are JSON Schemas that match what the service accepts, with defaults', async () => {
    const client = await insertUser(service)
    const ajv = new Ajv2020({ strict: false })
    const input = ajv.compile(await client.get('/runs/input_schema'))
    expect(input([{ type: 'human', content: 'Hi' }])).toBe(true)
    expect(input([{ type: 'human' }])).toBe(false)
    const output = ajv.compile(await client.get('/runs/output_schema'))
    expect(output({ messages: [{ type: 'AIMessage', data: { id: '1', content: 'Hi' } }] })).toBe(true)
    const config = await client.get('/runs/config_schema')
    expect(ajv.compile(config)({ configurable: {}, assistant: { 'type==agent/temperature': 9 } })).toBe(false)
    const known = config.properties.assistant.properties
    expect(known['type==agent/access_mode'].default).toBe('authenticated')
    expect(known['type==agent/max_steps'].default).toBe(25)
  })

  it('show the owner, and nobody else, what a run would use, without secrets', async () => {
    const talk = await conversation(service, {
      'type==agent/access_mode': 'public_token',
      'type==agent/public_token': `token-${crypto.randomUUID()}-secret`,
      'type==agent/tools': [
        { type: 'http_request', config: { allowed_hosts: ['api.example.com'], headers: { 'x-key': 'header-secret' } } },
        { type: 'web_search' },
      ],
      unknown: { kept: 'as it is' },
    })
    const view = await talk.client.get(`/runs/debug/assistant/${talk.assistantId}`)
    expect(view).toMatchObject({
      resolved: { model: 'standard', has_public_token: true, max_steps: 25 },
      model_account: 'platform',
    })
    expect(view.config).toEqual({
      'type==agent/access_mode': 'public_token',
      'type==agent/public_token': '***',
      'type==agent/tools': [
        { type: 'http_request', config: { allowed_hosts: ['api.example.com'], headers: { 'x-key': '***' } } },
        { type: 'web_search' },
      ],
      unknown: { kept: 'as it is' },
    })
    expect(view.tools.map((tool: any) => tool.name)).toEqual(['http_request'])
    expect(view.tool_problems).toEqual([expect.objectContaining({ type: 'web_search' })])
    expect(JSON.stringify(view)).not.toContain('secret')

    await talk.client.put(`/assistants/${talk.assistantId}`, { name: 'Open', public: true })
    const other = await insertUser(service)
    await other.get(`/assistants/${talk.assistantId}`)
    await other.get(`/runs/debug/assistant/${talk.assistantId}`, 403)
    await other.get('/runs/debug/assistant/missing', 404)
  })
})
