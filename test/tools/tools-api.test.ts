import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { type TestService, startService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'

describe('GET /tools/', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ worker: false })
  })
  afterAll(() => service.close())

  it('lists every tool with valid JSON Schemas', async () => {
    const { call } = await insertUser(service)
    const { status, body } = await call('GET', '/tools/')
    expect(status).toBe(200)
    expect(body.map((tool: { type: string }) => tool.type)).toEqual(['retrieval', 'http_request', 'mcp', 'web_search'])
    const ajv = new Ajv2020({ strict: false })
    for (const tool of body) {
      expect(tool.parameters.type).toBe('object')
      expect(ajv.validateSchema(tool.parameters)).toBe(true)
      expect(ajv.validateSchema(tool.config_schema)).toBe(true)
    }
    expect(body[1].parameters).toMatchObject({ required: ['method', 'url'], properties: { url: { type: 'string' } } })
    expect(body[3]).toMatchObject({ name: 'web_search', available: false })
  })

  it('requires a user', async () => {
    expect((await apiClient(service.url).call('GET', '/tools/')).status).toBe(401)
  })
})
