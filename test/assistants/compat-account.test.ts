import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { createCompatAccounts } from '../../services/assistants/compat-accounts.ts'
import { createAccountOf } from '../../services/runs/admit-run.ts'
import { createSecretBox } from '../../services/secrets.ts'
import { apiClient } from '../support/api-client.ts'
import { useModelService } from '../support/model-service.ts'
import { otherLetter } from '../support/other-letter.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { allEvents } from '../support/sse.ts'
import { type TestUser, insertUser } from '../support/users.ts'

const key = 'sk-own-0123456789-abcdefghijkl'
const mode = 'type==agent/access_mode'

describe('the provider account of an assistant', () => {
  let own: ScriptedModel
  let user: TestUser
  beforeAll(async () => {
    own = await startScriptedModel()
  })
  afterAll(() => own.close())
  const service = useModelService({ env: { OUTBOUND_ALLOW: '127.0.0.1' } })
  beforeAll(async () => {
    user = await insertUser(service)
  })

  const assistant = async (payload: object = { public: true }) =>
    String((await user.call('POST', '/assistants/', { name: 'A', ...payload })).body.assistant_id)
  const path = (id: string) => `/assistants/${id}/compat-account`
  const stored = (id: string) => service.collections.assistants.findById(id).lean<AssistantRecord>()

  it('is stored encrypted and shown masked', async () => {
    const id = await assistant()
    expect((await user.call('GET', path(id))).status).toBe(404)
    const put = await user.call('PUT', path(id), { api_key: key, base_url: `${own.url}/` })
    expect(put.status).toBe(200)
    expect(put.body).toEqual({
      assistant_id: id,
      base_url: own.url,
      api_key: 'sk-own***',
      updated_at: expect.any(String),
    })
    expect((await user.call('GET', path(id))).body).toEqual(put.body)
    expect(JSON.stringify(await stored(id))).not.toContain('0123456789')
    expect((await user.call('GET', `/assistants/${id}`)).text).not.toContain('sk-own')
    expect((await user.call('DELETE', path(id))).body).toEqual({ deleted: true })
    expect((await user.call('DELETE', path(id))).status).toBe(404)
  })

  it('never shows more than a quarter of a key', async () => {
    const id = await assistant()
    const { body } = await user.call('PUT', path(id), { api_key: 'short-key', base_url: own.url })
    expect(body.api_key).toBe('sh***')
  })

  it('keeps its key only with the base URL for which it was given', async () => {
    const id = await assistant()
    await user.call('PUT', path(id), { api_key: key, base_url: own.url })
    expect((await user.call('PUT', path(id), { base_url: own.url })).body.api_key).toBe('sk-own***')
    const moved = await user.call('PUT', path(id), { base_url: 'https://8.8.8.8/v1' })
    expect(moved.body).toMatchObject({ base_url: 'https://8.8.8.8/v1', api_key: null })
    expect((await stored(id))?.compat_account).not.toHaveProperty('encrypted_key')
    expect((await user.call('PUT', path(id), { api_key: key })).body).toMatchObject({
      base_url: 'https://8.8.8.8/v1',
      api_key: 'sk-own***',
    })
  })

  it('requires a public assistant, and is visible to its owner only', async () => {
    const body = { api_key: key, base_url: own.url }
    const closed = await assistant({ public: false })
    expect((await user.call('PUT', path(closed), body)).status).toBe(403)
    const open = await assistant({ config: { [mode]: 'public_no_auth' } })
    expect((await user.call('PUT', path(open), body)).status).toBe(200)
    const other = await insertUser(service)
    for (const method of ['PUT', 'GET', 'DELETE']) {
      const sent = method === 'PUT' ? body : undefined
      expect((await other.call(method, path(open), sent)).status, method).toBe(403)
      expect((await user.call(method, path('missing'), sent)).status, method).toBe(404)
      expect((await apiClient(service.url).call(method, path(open), sent)).status, method).toBe(401)
    }
  })

  it.each([
    ['a private address', { api_key: key, base_url: 'http://10.0.0.1/v1' }, 'base_url'],
    ['metadata', { api_key: key, base_url: 'http://169.254.169.254/' }, 'base_url'],
    ['mapped IPv6', { api_key: key, base_url: 'http://[::ffff:10.0.0.1]/' }, 'base_url'],
    ['another scheme', { api_key: key, base_url: 'file:///etc/passwd' }, 'base_url'],
    ['no URL', { api_key: key, base_url: 'nothing' }, 'base_url'],
    ['no address the first time', { api_key: key }, 'base_url'],
    ['no key the first time', { base_url: 'https://8.8.8.8' }, 'api_key'],
    ['a key with a line break', { api_key: 'a\nb', base_url: 'https://8.8.8.8' }, 'api_key'],
    ['a number', { api_key: 5, base_url: 'https://8.8.8.8' }, 'api_key'],
  ])('refuses %s', async (_what, body, member) => {
    const id = await assistant()
    const answer = await user.call('PUT', path(id), body)
    expect(answer.status).toBe(422)
    expect(answer.body.detail[0].loc).toEqual(['body', member])
    expect(answer.text).not.toContain('0123456789')
    expect(await stored(id)).not.toHaveProperty('compat_account')
  })

  it('receives all runs of the assistant, and no others', async () => {
    const id = await assistant()
    await user.call('PUT', path(id), { api_key: key, base_url: own.url })
    const run = async () => {
      const { body: thread } = await user.call('POST', '/threads/', {})
      const response = await user.fetch('POST', '/runs/stream', {
        thread_id: thread.thread_id,
        assistant_id: id,
        input: [{ type: 'human', content: 'Hi' }],
      })
      return { status: response.status, events: response.ok ? await allEvents(response) : [] }
    }
    own.reply({ text: 'from my own' })
    expect((await run()).events.at(-1)?.event).toBe('end')
    expect(own.requests.at(-1)?.headers.authorization).toBe(`Bearer ${key}`)

    own.reply({ status: 401, errorMessage: `Incorrect API key provided: ${key}` })
    const failed = (await run()).events.at(-1)
    expect(failed?.event).toBe('error')
    expect(failed?.data).not.toContain('0123456789')

    // A key in no usual form is known by its value.
    await user.call('PUT', path(id), { api_key: 'unusual.4711.words', base_url: own.url })
    own.reply({ status: 403, errorMessage: 'This is no key: unusual.4711.words' })
    const refused = (await run()).events.at(-1)
    expect(refused).toMatchObject({ event: 'error', data: expect.stringContaining('This is no key: [key]') })

    await user.call('PUT', path(id), { base_url: service.model.url })
    expect((await run()).status).toBe(503)
    expect(service.model.requests).toEqual([])
  })

  it('can be sealed again after a key rotation, and cannot be unsealed elsewhere', async () => {
    const id = await assistant()
    await user.call('PUT', path(id), { api_key: key, base_url: own.url })
    const oldKey = service.settings.secretsKey
    const newKey = Buffer.alloc(32, 7)
    const rotated = createSecretBox(newKey, [oldKey])
    const keyOf = async (box: ReturnType<typeof createSecretBox>) => {
      const record = await stored(id)
      return record === null ? undefined : createAccountOf(service.api.platform.core.models, box)(record)?.apiKey
    }
    expect(await keyOf(createSecretBox(newKey))).toBeUndefined()
    expect(await keyOf(rotated)).toBe(key)
    const accounts = createCompatAccounts({
      collections: service.collections,
      assistants: service.api.services.assistants,
      outbound: service.api.infra.outbound,
      secretBox: rotated,
    })
    expect(await accounts.reseal()).toBeGreaterThan(0)
    expect(await accounts.reseal()).toBe(0)
    expect(await keyOf(createSecretBox(newKey))).toBe(key)
    await service.collections.assistants.updateOne(
      { _id: id },
      { $set: { 'compat_account.base_url': 'https://evil.example' } },
    )
    expect(await keyOf(rotated)).toBeUndefined()
  })
})

describe('a sealed text', () => {
  const box = createSecretBox(Buffer.alloc(32, 1))
  it('can be unsealed only in its own place, and only unchanged', () => {
    const sealed = box.seal('sëcret', 'here')
    expect(box.open(sealed, 'here')).toBe('sëcret')
    expect(box.seal('sëcret', 'here')).not.toBe(sealed)
    expect(() => box.open(sealed, 'there')).toThrow()
    const [version, id, body = ''] = sealed.split('.')
    expect(() => box.open([version, id, body.replace(/^./, otherLetter)].join('.'), 'here')).toThrow()
    expect(() => box.open('plain', 'here')).toThrow('unknown key')
    expect(() => createSecretBox(Buffer.alloc(32, 2)).open(sealed, 'here')).toThrow('unknown key')
  })
})
