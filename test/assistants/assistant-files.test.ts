import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { knowledgeClient } from '../support/knowledge.ts'
import { useModelService } from '../support/model-service.ts'
import { type TestUser, insertUser } from '../support/users.ts'

const tool = {
  type: 'http_request',
  name: 'crm',
  config: { allowed_hosts: ['api.example.com'], headers: { 'x-api-key': 'sk-very-secret' } },
}
const config = {
  'type==agent/model': 'small',
  'type==agent/system_message': 'Answer from the handbook.\n  Be short.\n',
  'type==agent/temperature': 0.25,
  'type==agent/tools': [tool, { type: 'web_search' }],
  'type==agent/access_mode': 'public_token',
  'type==agent/public_token': 'a-very-public-secret',
  'type==agent/allowed_origins': ['https://example.com'],
  starters: ['When is the harbour open?', 'yes', '1.0', '- no'],
}

describe('an assistant as a file', () => {
  const service = useModelService()
  let user: TestUser
  beforeAll(async () => {
    user = await insertUser(service)
  })
  const create = async (name: string, members: object = config) =>
    String((await user.post('/assistants/', { name, config: members, public: true })).assistant_id)
  const yamlOf = async (id: string) => String((await user.get(`/assistants/${id}/yaml`)).file)
  const apply = (file: string, as = user) => as.call('POST', '/assistants/apply', { file })

  it('is the same text each time, without secrets and without who may use the assistant', async () => {
    const id = await create('Written')
    const file = await yamlOf(id)
    expect(await yamlOf(id)).toBe(file)
    expect(file).not.toMatch(/secret\b(?!s)|public|example\.com(?!")$/)
    expect(parse(file)).toEqual({
      assistant: 'Written',
      version: 1,
      model: 'small',
      system_message: config['type==agent/system_message'],
      temperature: 0.25,
      tools: [{ ...tool, config: { allowed_hosts: ['api.example.com'], headers: {} } }, { type: 'web_search' }],
      other: { starters: config.starters },
      missing_secrets: ['tools.0.config.headers.x-api-key'],
    })
    expect(file.split('\n').slice(0, 5)).toEqual([
      'assistant: Written',
      'version: 1',
      'model: small',
      'system_message: |',
      '  Answer from the handbook.',
    ])
  })

  it('changes nothing where it came from, also when it is applied twice', async () => {
    const id = await create('Unchanged', { ...config, 'type==agent/public_token': 'another-secret' })
    const before = await user.get(`/assistants/${id}`)
    for (let time = 0; time < 2; time++) {
      const { status, body } = await apply(await yamlOf(id))
      expect([status, body.outcome, body.missing_secrets]).toEqual([200, 'unchanged', []])
    }
    expect(await user.get(`/assistants/${id}`)).toEqual(before)
  })

  it('makes the assistant of another account once, private, and names its missing secrets', async () => {
    const file = await yamlOf(await create('Moved', { ...config, 'type==agent/public_token': 'a-third-secret' }))
    const stranger = await insertUser(service)
    const answers = await Promise.all([1, 2, 3].map(() => apply(file, stranger)))
    expect(answers.map(({ body }) => String(body.outcome)).toSorted()).toEqual(['created', 'unchanged', 'unchanged'])
    const listed = await stranger.get('/assistants/')
    expect(listed).toHaveLength(1)
    expect(listed[0]).toMatchObject({ name: 'Moved', public: false })
    expect(listed[0].config).not.toHaveProperty('type==agent/access_mode')
    expect(answers[0]?.body.missing_secrets).toEqual(['tools.0.config.headers.x-api-key'])
    expect(await stranger.get(`/assistants/${listed[0].assistant_id}/yaml`)).toEqual({
      file: file.replace(/missing_secrets:[^]*$/, ''),
    })
  })

  it('keeps the keys of a tool that stays as it is, and never those of one that it changes', async () => {
    const id = await create('Keys', { 'type==agent/tools': [tool, { ...tool, name: 'shop' }] })
    const file = await yamlOf(id)
    const moved = file.replace('api.example.com', 'evil.example.com').replace('version: 1', 'version: 1\nmodel: large')
    const { body } = await apply(moved)
    expect([body.outcome, body.missing_secrets]).toEqual(['changed', ['tools.0.config.headers.x-api-key']])
    expect((await user.get(`/assistants/${id}`)).config).toEqual({
      'type==agent/model': 'large',
      'type==agent/tools': [
        { ...tool, config: { allowed_hosts: ['evil.example.com'], headers: {} } },
        { ...tool, name: 'shop' },
      ],
    })
  })

  it('names its sources; files that are missing are told, and vector stores are found by name', async () => {
    const store = await user.post('/v1/vector_stores', { name: 'Shelf' })
    const librarian = await knowledgeClient(user, { 'type==agent/vector_stores': [store.id] })
    await librarian.upload([{ name: 'opening-hours.txt', content: 'From six.' }], '?wait=true')
    const file = await yamlOf(librarian.assistantId)
    expect(parse(file).sources).toEqual({
      files: [{ name: 'opening-hours.txt', sha256: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: 9 }],
      vector_stores: ['Shelf'],
    })
    expect((await apply(file)).body).toMatchObject({ outcome: 'unchanged', missing_files: [] })
    const copied = await apply(file.replace('assistant: Librarian', 'assistant: Copy'))
    expect(copied.body).toMatchObject({ outcome: 'created', missing_files: ['opening-hours.txt'] })
    expect(copied.body.assistant.config).toEqual({ 'type==agent/vector_stores': [store.id] })
    const unknown = await apply(file.replace('- Shelf', '- Cellar'))
    expect([unknown.status, unknown.text]).toEqual([422, expect.stringContaining('Cellar')])
    const stranger = await insertUser(service)
    expect((await apply(file, stranger)).status).toBe(422)
    expect(await stranger.get('/assistants/')).toEqual([])
  })

  it('is refused when two assistants have its name', async () => {
    await create('Twin', {})
    await create('Twin', {})
    expect((await apply('assistant: Twin\nversion: 1\n')).status).toBe(409)
  })

  it.each([
    ['an unknown member', 'modle: small', 'modle'],
    ['an unknown member of a tool', 'tools: [{type: web_search, key: x}]', '"tools","0","key"'],
    ['a setting among the free-form ones', 'other: {type==agent/public_token: x}', 'public_token'],
    ['a prototype', '__proto__: {admin: true}', '__proto__'],
    ['an anchor', 'description: &a x', 'anchor'],
    ['an alias', 'description: *a', 'alias'],
    ['a tag', 'description: !!js/function x', 'tag'],
    ['a key twice', 'model: a\nmodel: b', 'twice'],
    ['a second document', '---\nassistant: y', 'multiple documents'],
    ['a wrong type', 'temperature: hot', 'temperature'],
    ['a number out of range', 'other: {a: .inf}', 'out of range'],
    ['brackets without end', `other: ${'['.repeat(400_000)}`, 'nests deeper'],
    ['dashes without end', `tools:\n  ${'- '.repeat(400_000)}`, 'nests deeper'],
    ['lines without end', '\n'.repeat(900_000), 'lines'],
    ['members without end', `other: {${Array.from({ length: 60_000 }, (_, at) => `k${at}: 1`).join(', ')}}`, 'entries'],
    ['too much text', `description: ${'x'.repeat(1024 * 1024)}`, 'file'],
  ])('is refused for %s, by name', async (_what, more, named) => {
    const { status, text } = await apply(`assistant: Hostile\nversion: 1\n${more}\n`)
    expect([status, text]).toEqual([422, expect.stringContaining(named)])
    expect((await user.get('/assistants/')).map(({ name }: any) => name)).not.toContain('Hostile')
  })
})
