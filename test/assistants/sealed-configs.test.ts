import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { configUpdate, createAssistantConfigs } from '../../services/assistants/configs.ts'
import { resealConfigs } from '../../services/assistants/stored-configs.ts'
import { createSecretBox, createTokenHashes } from '../../services/secrets.ts'
import { apiClient } from '../support/api-client.ts'
import { everythingIn } from '../support/everything-in.ts'
import { runScript } from '../support/run-script.ts'
import { type TestService, startService } from '../support/service.ts'
import { type TestUser, insertUser } from '../support/users.ts'

const mode = 'type==agent/access_mode'
const tokenKey = 'type==agent/public_token'
const description = 'type==agent/description'

describe('the configurations of assistants in the database', () => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await startService({ worker: false })
    user = await insertUser(service)
  })
  afterAll(() => service.close())

  const newToken = () => `token-${newId()}`
  const withToken = (token: string, more: object = {}) => ({
    [mode]: 'public_token',
    [tokenKey]: token,
    'type==agent/tools': [{ type: 'http_request', config: { headers: { 'x-key': `key-${token}` } } }],
    ...more,
  })
  const make = async (config: object, more: object = {}) =>
    String((await user.post('/assistants/', { name: 'A', config, ...more })).assistant_id)
  const raw = (id: string) => service.collections.assistants.findById(id).lean()
  const opens = async (token: string, base: { url: string } = service) =>
    (await apiClient(base.url, token).call('GET', '/public/compat/v1/assistants')).body?.data?.[0]?.id

  const configsUnder = (secretsKey = service.settings.secretsKey, previous: Uint8Array[] = []) =>
    createAssistantConfigs(createSecretBox(secretsKey, previous), createTokenHashes(secretsKey, previous))
  const reseal = (secretsKey: Buffer, previous: Buffer[]) =>
    resealConfigs({ collections: service.collections, configs: configsUnder(secretsKey, previous) })

  it('are returned exactly as sent, and cannot be read with the database alone', async () => {
    const token = newToken()
    const config = `{"b":-0,"__proto__":{"x":1},"a.b":"$where","":1e-7,"${mode}":"public_token","${tokenKey}":"${token}","😀":[null]}`
    const created = await user.call('POST', '/assistants/', `{"name":"A","config":${config}}`)
    expect(created.text).toContain(config)
    const id = String(created.body.assistant_id)
    expect((await user.call('GET', `/assistants/${id}`)).text).toContain(config)
    const record = everythingIn(await raw(id))
    for (const word of [token, '$where', '😀']) expect(record).not.toContain(word)
    expect(record).toContain('v1.')
    const other = await make({})
    await service.collections.assistants.updateOne(
      { _id: other },
      { $set: { sealed_config: (await raw(id))?.sealed_config } },
    )
    // Bound to its assistant: moved to another one, it does not open.
    expect((await user.call('GET', `/assistants/${other}`)).status).toBe(500)
    await service.collections.assistants.deleteOne({ _id: other })
  })

  it('store a public token as a keyed hash with a unique index', async () => {
    const token = newToken()
    const id = await make(withToken(token))
    expect(await opens(token)).toBe(id)
    expect((await raw(id))?.public_token_hashes).toEqual([...createTokenHashes(service.settings.secretsKey)(token)])
    const otherKey = createTokenHashes(Buffer.alloc(32, 9))(token)
    expect((await raw(id))?.public_token_hashes).not.toEqual([...otherKey])
    const indexes = await service.collections.assistants.listIndexes()
    expect(indexes).toContainEqual(expect.objectContaining({ key: { public_token_hashes: 1 }, unique: true }))

    const refused = await user.call('POST', '/assistants/', { name: 'B', config: withToken(token) })
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ msg: 'this token cannot be used' }] } })
    expect(refused.text).not.toMatch(/another|taken|holds/)
    await user.put(`/assistants/${id}`, { name: 'A' })
    expect(await opens(token)).toBeUndefined()
    const next = await make(withToken(token))
    expect(await opens(token)).toBe(next)
  })

  it('appear in lists with their public members only, and with a shortened description', async () => {
    const long = `${'d'.repeat(1999)}😀${'d'.repeat(100)}`
    const id = await make(withToken(newToken(), { [description]: long }), { public: true })
    const anybody = apiClient(service.url)
    const listed = (await anybody.get('/assistants/public/')).find((entry: any) => entry.assistant_id === id)
    expect(listed.config).toEqual({ [mode]: 'public_token', [description]: 'd'.repeat(1999) })
    expect((await anybody.get(`/assistants/${id}`)).config).toEqual({ [mode]: 'public_token', [description]: long })
  })

  it('are not overwritten by a sealing that read them before a change by their owner', async () => {
    const configs = configsUnder()
    const { assistants } = service.collections
    const id = await make({ note: 'old' })
    const read = await raw(id)
    if (read === null) throw new Error('the assistant is gone')
    await user.put(`/assistants/${id}`, { name: 'A', config: { note: 'new' } })
    const late = await assistants.updateOne(
      { _id: read._id, config_version: read.config_version },
      configUpdate(configs.fieldsOf(id, configs.textOf(read))),
    )
    expect(late.matchedCount).toBe(0)
    expect((await user.get(`/assistants/${id}`)).config).toEqual({ note: 'new' })
  })

  it('can be sealed again during a key rotation; tokens are found meanwhile, and the old key is no longer needed afterwards', async () => {
    const token = newToken()
    const id = await make(withToken(token))
    const newKey = Buffer.alloc(32, 5)
    const env = {
      ...service.env,
      PORT: '0',
      SECRETS_KEY: newKey.toString('base64'),
      SECRETS_KEY_PREVIOUS: service.settings.secretsKey.toString('base64'),
    }
    const rotated = await startService({ worker: false, env })
    const sameToken = newToken()
    try {
      expect(await opens(token, rotated)).toBe(id)
      const client = apiClient(rotated.url, user.token)
      expect((await client.get(`/assistants/${id}`)).config).toEqual(withToken(token))
      const taken = await client.call('POST', '/assistants/', { name: 'B', config: withToken(token) })
      expect(taken.status).toBe(422)
      // Written with both keys known: processes that know only the old one still see that the token is taken.
      const both = await client.post('/assistants/', { name: 'C', config: withToken(sameToken) })
      expect((await raw(both.assistant_id))?.public_token_hashes).toHaveLength(2)
      expect((await user.call('POST', '/assistants/', { name: 'D', config: withToken(sameToken) })).status).toBe(422)
    } finally {
      await rotated.api.close()
    }

    const { said } = await runScript('scripts/reseal-secrets.ts', env)
    expect(said).toContain('configurations were encrypted again')
    const { SECRETS_KEY_PREVIOUS: _previous, ...onlyNewKey } = env
    const fresh = await startService({ worker: false, env: onlyNewKey })
    try {
      const client = apiClient(fresh.url, user.token)
      expect(await opens(token, fresh)).toBe(id)
      expect(await opens(sameToken, fresh)).toBeDefined()
      expect((await client.get(`/assistants/${id}`)).config).toEqual(withToken(token))
      for (const record of await service.collections.assistants.find({ public_token_hashes: { $exists: true } }).lean())
        expect(record.public_token_hashes).toHaveLength(1)
      expect(await reseal(newKey, [service.settings.secretsKey])).toBe(0)
    } finally {
      await fresh.api.close()
    }
    // Back to the key of the other tests.
    await reseal(service.settings.secretsKey, [newKey])
  })

  it('get a strong new public token, which replaces the old one at once and changes nothing else', async () => {
    const old = newToken()
    const config = withToken(old, { 'my own': { 'a.b': [1, null] } })
    const id = await make(config)
    const answer = await user.post(`/assistants/${id}/public-token`)
    expect(answer).toEqual({ assistant_id: id, public_token: expect.stringMatching(/^pt_[\w-]{43}$/) })
    expect(await opens(old)).toBeUndefined()
    expect(await opens(answer.public_token)).toBe(id)
    expect((await user.get(`/assistants/${id}`)).config).toEqual({ ...config, [tokenKey]: answer.public_token })
    const closed = await make({ note: 'x' })
    const { public_token: unused } = await user.post(`/assistants/${closed}/public-token`)
    expect(await opens(unused)).toBeUndefined()
    expect((await user.get(`/assistants/${closed}`)).config).toEqual({ note: 'x', [tokenKey]: unused })
    await user.post(`/assistants/${newId()}/public-token`, undefined, 404)
    const other = await insertUser(service)
    await other.post(`/assistants/${id}/public-token`, undefined, 403)
  })

  it('end with one of many simultaneous new tokens, and lose no simultaneous change', async () => {
    const id = await make({ [mode]: 'public_no_auth' })
    const made = await Promise.all(Array.from({ length: 12 }, () => user.post(`/assistants/${id}/public-token`)))
    const tokens = made.map((answer) => String(answer.public_token))
    expect(new Set(tokens).size).toBe(12)
    const holders = await Promise.all(tokens.map((token) => opens(token)))
    expect(holders.filter((holder) => holder !== undefined)).toEqual([id])
    const { config } = await user.get(`/assistants/${id}`)
    expect(config).toEqual({ [mode]: 'public_no_auth', [tokenKey]: tokens[holders.indexOf(id)] })
  })
})
