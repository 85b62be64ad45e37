import { describe, expect, it } from 'vitest'
import { readAssistantConfig } from '../../domain/assistant-config.ts'
import { newId } from '../../domain/ids.ts'
import { apiClient } from '../support/api-client.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

const mode = 'type==agent/access_mode'
const token = 'type==agent/public_token'

describe('assistants', () => {
  const service = useSharedService()

  it('creates with defaults, lists, reads, replaces', async () => {
    const { call, projectId, userId } = await insertUser(service)
    const { body: created } = await call('POST', '/assistants/', { name: 'A' })
    expect(created).toEqual({
      assistant_id: expect.any(String),
      project_id: projectId,
      name: 'A',
      config: {},
      public: false,
      created_at: expect.any(String),
      created_by: { user_id: userId, name: expect.any(String) },
      updated_at: expect.any(String),
    })
    expect((await call('GET', '/assistants/')).body).toEqual([created])
    const { body: replaced } = await call('PUT', `/assistants/${created.assistant_id}`, { name: 'B', config: { a: 1 } })
    expect(replaced).toMatchObject({ name: 'B', config: { a: 1 }, created_at: created.created_at })
    expect((await call('GET', `/assistants/${created.assistant_id}`)).body).toEqual(replaced)
  })

  it('creates an assistant under the id that the caller chose, once', async () => {
    const { call } = await insertUser(service)
    const id = `my.assistant~${newId()}`
    const answers = await Promise.all(Array.from({ length: 8 }, () => call('PUT', `/assistants/${id}`, { name: 'A' })))
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]))
    expect((await call('GET', '/assistants/')).body).toHaveLength(1)
    expect((await call('PUT', '/assistants/not%20an%20id', { name: 'A' })).status).toBe(422)
  })

  it('returns a config exactly as it was sent', async () => {
    const { call } = await insertUser(service)
    const nested = (levels: number) => '{"n":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1)
    const config = [
      '"a.b":1',
      '"$where":"this.x"',
      '"$set":{"public":true}',
      '"__proto__":{"polluted":true}',
      '"constructor":{"prototype":{"x":1}}',
      '"":[null,true,-0,0.1,1e-7,5e-324,1.7976931348623157e+308,9007199254740993]',
      '"späce 😀\\u0000\\ud800":"\\u0000\\ud800"',
      `"deep":${nested(62)}`,
    ].join(',')
    const sent = `{"name":"A","config":{${config}},"public":false}`
    const created = await call('POST', '/assistants/', sent)
    expect(created.status).toBe(200)
    const expected = JSON.stringify(JSON.parse(`{${config}}`)).replace('null,true,0,', 'null,true,-0,')
    expect(created.text).toContain(`"config":${expected},"public"`)
    const read = await call('GET', `/assistants/${created.body.assistant_id}`)
    expect(read.text).toBe(created.text)
    expect(Object.prototype).not.toHaveProperty('polluted')
    expect((await call('POST', '/assistants/', `{"name":"A","config":${nested(64)}}`)).status).toBe(422)
    expect((await call('POST', '/assistants/', `{"name":"A","config":${nested(100_000)}}`)).status).toBe(422)
    expect((await call('POST', '/assistants/', '{"name":"A","config":{"x":1e999}}')).status).toBe(422)
  })

  it.each([
    [{ [mode]: 'open' }, mode],
    [{ [mode]: 'public_token' }, token],
    [{ 'type==agent/temperature': '1' }, 'type==agent/temperature'],
    [{ 'type==agent/max_steps': 0 }, 'type==agent/max_steps'],
    [{ 'type==agent/tools': {} }, 'type==agent/tools'],
    [{ 'type==agent/allowed_origins': ['*'] }, 'type==agent/allowed_origins'],
  ])('refuses a known key with a wrong type in %j', async (config, key) => {
    const { call } = await insertUser(service)
    const answer = await call('POST', '/assistants/', { name: 'A', config })
    expect(answer.status).toBe(422)
    expect(answer.body.detail[0].loc.slice(0, 3)).toEqual(['body', 'config', key])
  })

  it('gives a public token to one of several simultaneous assistants', async () => {
    const [a, b] = [await insertUser(service), await insertUser(service)]
    const secret = `secret-${newId()}`
    const payload = { name: 'A', config: { [mode]: 'public_token', [token]: secret } }
    const answers = await Promise.all([a, b, a, b].map((user) => user.call('POST', '/assistants/', payload)))
    expect(answers.filter((answer) => answer.status === 422)).toHaveLength(3)
    const winner = answers.find((answer) => answer.status === 200)?.body
    const owner = (await a.call('GET', `/assistants/${winner.assistant_id}`)).status === 200 ? a : b
    expect((await owner.call('PUT', `/assistants/${winner.assistant_id}`, payload)).status).toBe(200)
    await owner.call('PUT', `/assistants/${winner.assistant_id}`, { name: 'A' })
    expect((await a.call('POST', '/assistants/', payload)).status).toBe(200)
  })

  it('shows other users only public members of public assistants', async () => {
    const [owner, other] = [await insertUser(service), await insertUser(service)]
    const config = {
      [mode]: 'public_token',
      [token]: `secret-${newId()}`,
      'type==agent/description': 'helps',
      'type==agent/starters': ['How?'],
      'type==agent/system_message': 'hidden words',
      'type==agent/tools': [{ type: 'mcp', config: { headers: { authorization: 'hidden words' } } }],
      note: 'hidden words',
    }
    const { body: open } = await owner.call('POST', '/assistants/', { name: 'Open', config, public: true })
    const { body: closed } = await owner.call('POST', '/assistants/', {
      name: 'Closed',
      config: { note: 'hidden words' },
    })
    expect(open.config).toEqual(config)
    for (const call of [other.call, apiClient(service.url).call]) {
      const seen = await call('GET', `/assistants/${open.assistant_id}`)
      expect(seen.body.config).toEqual({
        [mode]: 'public_token',
        'type==agent/description': 'helps',
        'type==agent/starters': ['How?'],
      })
      const list = await call('GET', '/assistants/public/')
      expect(list.body).toContainEqual(seen.body)
      expect(list.text).not.toContain('hidden words')
      expect(list.text).not.toContain('secret-')
      expect(list.text).not.toContain(closed.assistant_id)
    }
    expect((await other.call('GET', `/assistants/${closed.assistant_id}`)).status).toBe(403)
    expect((await apiClient(service.url).call('GET', `/assistants/${closed.assistant_id}`)).status).toBe(401)
    expect((await apiClient(service.url).call('GET', `/assistants/${newId()}`)).status).toBe(404)
    for (const id of [open.assistant_id, closed.assistant_id]) {
      expect((await other.call('PUT', `/assistants/${id}`, { name: 'mine now' })).status).toBe(403)
      expect((await other.call('PUT', `/assistants/${id}/project`, { project_id: other.projectId })).status).toBe(403)
    }
  })

  it('moves an assistant between projects of its owner, and reads it from each of them', async () => {
    const [owner, other] = [await insertUser(service), await insertUser(service)]
    const { body: project } = await owner.call('POST', '/projects/', { name: 'other' })
    const { body: assistant } = await owner.call('POST', '/assistants/', { name: 'A', config: { x: 1 } })
    const path = `/assistants/${assistant.assistant_id}`
    const moved = await owner.call('PUT', `${path}/project`, { project_id: project.project_id })
    expect(moved.body).toMatchObject({ project_id: project.project_id, config: { x: 1 } })
    expect((await owner.call('GET', '/assistants/')).body).toEqual([])
    expect((await owner.call('GET', path)).status).toBe(200)
    expect((await owner.call('PUT', `${path}/project`, { project_id: other.projectId })).status).toBe(403)
    expect((await owner.call('PUT', `${path}/project`, { project_id: newId() })).status).toBe(404)
    expect((await owner.call('PUT', `/assistants/${newId()}/project`, { project_id: project.project_id })).status).toBe(
      404,
    )
    expect((await owner.call('PUT', `${path}/project`, {})).status).toBe(422)
  })

  it('returns 422 for a config of more than a megabyte', async () => {
    const { call } = await insertUser(service)
    const sent = (characters: number) => ({ name: 'A', config: { notes: 'x'.repeat(characters) } })
    const { body: assistant } = await call('POST', '/assistants/', sent(1_000_000))
    for (const answer of [
      await call('POST', '/assistants/', sent(1024 * 1024)),
      await call('PUT', `/assistants/${assistant.assistant_id}`, sent(1024 * 1024)),
    ]) {
      expect(answer.status).toBe(422)
      expect(answer.body.detail).toEqual([{ loc: ['body', 'config'], msg: 'is larger than 1 MB', type: 'too_large' }])
    }
  })
})

describe('readAssistantConfig', () => {
  it('fills in defaults', () => {
    expect(readAssistantConfig('{}')).toMatchObject({
      accessMode: 'authenticated',
      publicToken: undefined,
      tools: [],
      maxSteps: 25,
    })
    const config = {
      'type==agent/tools': [{ type: 'retrieval' }],
      'type==agent/max_steps': 3,
      [mode]: 'public_no_auth',
      other: {},
    }
    expect(readAssistantConfig(JSON.stringify(config))).toMatchObject({
      accessMode: 'public_no_auth',
      tools: [{ type: 'retrieval' }],
      maxSteps: 3,
    })
  })
})
