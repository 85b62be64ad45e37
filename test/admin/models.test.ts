import type { IncomingHttpHeaders } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { answers, saidBy, thought } from '../model/native-wire.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { readJson, sendJson, startHttpServer } from '../support/http-server.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { type TestService, startService } from '../support/service.ts'
import { type TestUser, insertUser } from '../support/users.ts'

const key = 'sk-operators-own-key-of-a-server'

describe('the settings of models that operators make', () => {
  let own: ScriptedModel
  let other: ScriptedModel
  let service: TestService
  let user: TestUser
  const logged: string[] = []
  beforeAll(async () => {
    const answers = (text: string) => startScriptedModel({ respond: (request) => replyTo(request, text) })
    ;[own, other] = await Promise.all([answers('from the first'), answers('from the second')])
    service = await startService({ env: { LOG_LEVEL: 'debug' }, onLog: (line) => logged.push(line) })
    user = await insertUser(service)
  })
  afterAll(async () => {
    await service.close()
    await Promise.all([own.close(), other.close()])
  })

  const admin = (method: string, path: string, body?: unknown) =>
    apiClient(service.url, service.env['ADMIN_TOKEN']).call(method, path, body)
  const put = (id: string, body: object) => admin('PUT', `/admin/models/servers/${id}`, body)
  async function ask(config = {}) {
    const { assistant_id: assistantId } = await user.post('/assistants/', { name: 'A', config })
    const { thread_id: threadId } = await user.post('/threads/', { assistant_id: assistantId })
    const input = [{ type: 'human', content: 'hello' }]
    return user.call('POST', '/runs/', { thread_id: threadId, assistant_id: assistantId, input })
  }
  async function answerOf(runId: string): Promise<any> {
    return eventually('the end of the run', async () => {
      const { body } = await user.call('GET', `/runs/${runId}`)
      return ['success', 'error'].includes(body.status) ? body : undefined
    })
  }

  it('take effect in API and worker without a restart, with keys that are stored sealed', async () => {
    expect((await ask()).status).toBe(503)
    const models = [{ id: 'small', provider_model: 'vendor/small-1', context_tokens: 9000 }, { id: 'plain' }]
    const { status, body, text } = await put('mine', { name: 'Own', base_url: own.url, api_key: key, models })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      default_model: 'small',
      default_source: 'automatic',
      servers: [{ server_id: 'mine', source: 'stored', key: 'set', key_hint: 'sk-ope', base_url: own.url }],
    })
    expect(text).not.toContain(key)
    const { models: listed } = (await user.call('GET', '/user/models')).body
    expect(listed[0]).toMatchObject({ id: 'small', is_default: true, context_tokens: 9000, providers: ['Own'] })

    const worker = service.worker?.platform.core.models
    await eventually('the worker to see it', async () => worker?.current().defaultModel === 'small' || undefined)
    const { status: started, body: run } = await ask()
    expect(started).toBe(200)
    expect(JSON.stringify(await answerOf(run.run_id))).toContain('from the first')
    const [request] = own.requests
    expect(request?.body.model).toBe('vendor/small-1')
    expect(request?.headers.authorization).toBe(`Bearer ${key}`)

    const stored = JSON.stringify(await service.collections.modelSettings.find().lean())
    expect(stored).toContain('sealed_key')
    expect(stored + logged.join('\n')).not.toContain(key)
    const { entries } = (await admin('GET', '/admin/audit?action=admin.putModelServer')).body
    expect(entries[0]).toMatchObject({ actor: 'admin', subjects: ['mine'] })
  })

  it('keep everything that an operator says of a model', async () => {
    const said = { pictures: true, tools: false, thinking: false, json: true }
    await put('mine', { name: 'Own', base_url: own.url, models: [{ id: 'small', ...said }] })
    const { models } = (await admin('GET', '/admin/models')).body.servers[0]
    expect(models).toMatchObject([{ ...said, set: ['pictures', 'tools', 'thinking', 'json'] }])
    await put('mine', { name: 'Own', base_url: own.url, models: [{ id: 'small' }, { id: 'plain' }] })
  })

  it('keep a key with its address, and send it to no other', async () => {
    const models = [{ id: 'kept' }]
    await put('keyed', { name: 'Keyed', base_url: own.url, api_key: key, models })
    const renamed = await put('keyed', { name: 'Renamed', base_url: `${own.url}/`, models })
    expect(serverIn(renamed.body, 'keyed')).toMatchObject({ name: 'Renamed', key: 'set' })
    const moved = await put('keyed', { name: 'Moved', base_url: other.url, models })
    expect(serverIn(moved.body, 'keyed')).toMatchObject({ key: 'none', key_hint: '' })
    expect((await admin('DELETE', '/admin/models/servers/keyed')).status).toBe(200)
    expect((await admin('DELETE', '/admin/models/servers/keyed')).status).toBe(404)
    for (const base_url of ['https://user:secret@models.example/v1', 'http://', 'https://a.example/v1?key=1'])
      expect((await put('wrong', { name: 'Wrong', base_url, models })).status).toBe(422)
    expect((await put('twice', { name: 'T', base_url: own.url, models: [{ id: 'a' }, { id: 'a' }] })).status).toBe(422)
  })

  it('choose the default, fallbacks and prices, of models that are there', async () => {
    await put('spare', { name: 'Spare', base_url: other.url, models: [{ id: 'spare' }] })
    const choice = { default_model: 'spare', fallbacks: { small: ['spare'] }, currency: 'EUR', prices: {} }
    expect((await admin('PUT', '/admin/models/choices', { ...choice, default_model: 'missing' })).status).toBe(422)
    expect((await admin('PUT', '/admin/models/choices', { ...choice, fallbacks: { small: ['no'] } })).status).toBe(422)
    const prices = {
      spare: { input: 1, output: 2, cached_input: 0.1, cache_write: 1.25 },
      '*': { input: 5, output: 6 },
    }
    const { body } = await admin('PUT', '/admin/models/choices', { ...choice, prices, minutes: { code: 0.01 } })
    expect(body).toMatchObject({
      default_model: 'spare',
      default_source: 'stored',
      currency: 'eur',
      minutes: { code: 0.01 },
    })
    const wrong = { ...choice, minutes: { code: -1 } }
    expect((await admin('PUT', '/admin/models/choices', wrong)).status).toBe(422)
    // The small model, which stays as long as a change does not name it, and counts as long as a server has it.
    const withSmall = { ...choice, small_model: 'spare' }
    expect((await admin('PUT', '/admin/models/choices', { ...choice, small_model: 'no' })).status).toBe(422)
    expect((await admin('PUT', '/admin/models/choices', withSmall)).body).toMatchObject({ small_model: 'spare' })
    expect((await admin('PUT', '/admin/models/choices', { ...choice, prices })).body.small_model).toBe('spare')
    expect((await admin('GET', '/admin/models')).body).toMatchObject({ small_model: 'spare', small_source: 'stored' })
    const settings = async () => (await apiClient(service.url, undefined).call('GET', '/console-settings.json')).body
    expect((await settings()).suggests).toBe(true)

    const { models } = (await user.call('GET', '/user/models')).body
    expect(models[0]).toMatchObject({
      id: 'spare',
      prices: { currency: 'eur', input: 1, output: 2, cached_input: 0.1, cache_write: 1.25 },
    })
    expect(models.find(({ id }: any) => id === 'small')).toMatchObject({ fallbacks: ['spare'] })
    // The default is gone with its server: the service chooses another.
    const without = await admin('DELETE', '/admin/models/servers/spare')
    expect(without.body).toMatchObject({ default_model: 'small', default_source: 'automatic', small_model: null })
    expect((await settings()).suggests).toBe(false)
    expect((await user.call('GET', '/user/models')).body.models[0]).toMatchObject({ fallbacks: [] })
  })

  it('change one after the other when many come at once', async () => {
    const ids = Array.from({ length: 6 }, (_, place) => `many-${place}`)
    const answers = await Promise.all(
      ids.map((id) => put(id, { name: id, base_url: own.url, models: [{ id: `model-of-${id}` }] })),
    )
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200))
    const { servers } = (await admin('GET', '/admin/models')).body
    expect(servers.map(({ server_id: id }: any) => id)).toEqual(expect.arrayContaining(ids))
    for (const id of ids) await admin('DELETE', `/admin/models/servers/${id}`)
  })

  it('look for the models of a server, and say what one can do', async () => {
    const root = own.url.replace(/\/v1$/, '')
    const { body: looked } = await admin('POST', '/admin/models/look', { base_url: root })
    expect(looked).toEqual({
      base_url: own.url,
      models: [{ id: 'scripted', context_tokens: null, seems_to_chat: true }],
    })
    await put('tried', { name: 'Tried', base_url: own.url, api_key: key, models: [{ id: 'scripted' }] })
    const { status, body } = await admin('POST', '/admin/models/servers/tried/try', { model: 'scripted' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      model: 'scripted',
      streaming: { works: true, problem: null },
      tools: { works: true },
      json: { works: false, problem: 'The answer does not match the schema.' },
      embeddings: { works: true, dimensions: 1536 },
      context_tokens: 128_000,
      context_source: 'known',
    })
    expect((await admin('POST', '/admin/models/servers/nowhere/try', { model: 'scripted' })).status).toBe(404)
  })

  it('reach a provider in its own interface, with what it sent with its answer', async () => {
    const requests: { url: string; headers: IncomingHttpHeaders; body: any }[] = []
    const server = await startHttpServer(async (request, response) => {
      const url = request.url ?? ''
      if (request.method === 'GET') {
        requests.push({ url, headers: request.headers, body: undefined })
        return sendJson(response, 200, {
          data: [{ type: 'model', id: 'claude-sonnet-4-5', max_input_tokens: 200_000 }],
        })
      }
      const body = await readJson<any>(request)
      requests.push({ url, headers: request.headers, body })
      const hasResult = JSON.stringify(body.messages).includes('tool_result')
      response.setHeader('content-type', 'text/event-stream').end(hasResult ? saidBy('Done.') : answers.anthropic())
    })
    try {
      const place = { kind: 'anthropic', base_url: `${server.url}/v1`, api_key: key }
      const { body: looked } = await admin('POST', '/admin/models/look', place)
      expect(looked.models).toEqual([{ id: 'claude-sonnet-4-5', context_tokens: 200_000, seems_to_chat: true }])
      expect(requests[0]).toMatchObject({ url: '/v1/models?limit=1000', headers: { 'x-api-key': key } })
      const models = [{ id: 'claude', provider_model: 'claude-sonnet-4-5' }]
      const { body } = await put('native', { name: 'Native', ...place, models })
      expect(serverIn(body, 'native')).toMatchObject({
        kind: 'anthropic',
        key: 'set',
        base_url: `${server.url}/v1`,
        models: [{ id: 'claude', pictures: true, tools: true, thinking: true, learnt: [] }],
      })
      const blind = await put('native', { name: 'Native', ...place, models: [{ ...models[0], pictures: false }] })
      expect(serverIn(blind.body, 'native').models[0]).toMatchObject({ pictures: false, tools: true })
      const kept = await put('native', { name: 'Native', ...place, models })
      expect(serverIn(kept.body, 'native').models[0].pictures).toBe(false)
      const worker = service.worker?.platform.core.models
      const sees = () => worker?.current().providers.models.some(({ kind }) => kind === 'anthropic') || undefined
      await eventually('the worker to see it', async () => sees())

      const { body: started } = await ask({ 'type==agent/model': 'claude' })
      const ended = await answerOf(started.run_id)
      expect(ended.status).toBe('success')
      const [, first, second] = requests
      expect(first).toMatchObject({ url: '/v1/messages', headers: { 'x-api-key': key }, body: { stream: true } })
      expect(first?.headers.authorization).toBeUndefined()
      const thinking = { type: 'thinking', thinking: thought, signature: 'c2lnbmF0dXJl' }
      expect(second?.body.messages[1].content[0]).toEqual(thinking)
      // A later run reads the conversation from the log.
      const input = [{ type: 'human', content: 'And now?' }]
      const again = { thread_id: started.thread_id, assistant_id: started.assistant_id, input }
      expect((await answerOf((await user.call('POST', '/runs/', again)).body.run_id)).status).toBe('success')
      expect(requests.at(-1)?.body.messages[1].content[0]).toEqual(thinking)
      const shown = JSON.stringify([ended, (await user.call('GET', `/threads/${started.thread_id}/history`)).body])
      expect(shown).not.toMatch(/provider_metadata|c2lnbmF0dXJl/)
    } finally {
      await admin('DELETE', '/admin/models/servers/native')
      await server.close()
    }
  })

  it('withstand what a hostile server answers', async () => {
    const hostile: Record<string, string> = {
      '/page/models': '<html>not a model server</html>',
      '/deep/models': `{"data":${'['.repeat(5000)}${']'.repeat(5000)}}`,
      '/wide/models': `{"data":[${'[],'.repeat(400_000)}[]]}`,
      '/long/models': `{"data":[{"id":"${'x'.repeat(6 * 1024 * 1024)}"}]}`,
      '/odd/models': JSON.stringify({ data: [{ id: 5 }, null, { id: 'x'.repeat(500) }, { id: 'good', meta: [] }] }),
      '/many/models': JSON.stringify({ data: Array.from({ length: 3000 }, (_, place) => ({ id: `m${place}` })) }),
    }
    const server = await startHttpServer(async (request, response) => {
      const text = hostile[request.url ?? '']
      if (text === undefined) return sendJson(response, 401, { error: `wrong key ${request.headers.authorization}` })
      response.setHeader('content-type', 'application/json').end(text)
    })
    try {
      const look = (path: string) =>
        admin('POST', '/admin/models/look', { base_url: `${server.url}${path}`, api_key: key })
      for (const path of ['/page', '/deep', '/wide', '/long']) {
        const { status, text } = await look(path)
        expect([path, status]).toEqual([path, 502])
        expect(text).not.toContain('xxx')
      }
      expect((await look('/odd')).body.models.map(({ id }: any) => id)).toEqual(['good'])
      expect((await look('/many')).body.models).toHaveLength(500)
      const refused = await look('/other')
      expect(refused.status).toBe(502)
      expect(refused.text).toContain('refused the key')
      expect(refused.text + logged.join('\n')).not.toContain(key)
    } finally {
      await server.close()
    }
  })
})

describe('settings of the environment', () => {
  it('win over those of operators, and are shown as such', async () => {
    const model = await startScriptedModel({ respond: (request) => replyTo(request, 'from the environment') })
    const found = JSON.stringify([{ name: 'Ollama', base_url: `${model.url}/other`, models: [{ id: 'found-one' }] }])
    const prices = JSON.stringify({ currency: 'chf', models: { '*': { input: 1, output: 1 } } })
    const service = await startService({
      worker: false,
      env: { ...model.env, MODEL_PRICES: prices, MODEL_SERVERS_FOUND: found },
    })
    try {
      const admin = apiClient(service.url, service.env['ADMIN_TOKEN'])
      await admin.call('PUT', '/admin/models/servers/mine', {
        name: 'Mine',
        base_url: model.url,
        models: [{ id: 'stored-one' }],
      })
      const { body } = await admin.call('PUT', '/admin/models/choices', {
        default_model: 'stored-one',
        fallbacks: {},
        currency: 'usd',
        prices: {},
      })
      expect(body).toMatchObject({
        default_model: 'scripted',
        default_source: 'environment',
        currency: 'chf',
        prices_source: 'environment',
        servers: [
          { server_id: 'openai', source: 'environment', key: 'set' },
          { server_id: 'mine', source: 'stored' },
          { server_id: 'found-0', source: 'found', name: 'Ollama' },
        ],
      })
      const user = await insertUser(service)
      const { models, is_demo } = (await user.call('GET', '/user/models')).body
      expect(is_demo).toBe(false)
      expect(models.map(({ id }: any) => id)).toEqual(['scripted', 'stored-one'])
    } finally {
      await service.close()
      await model.close()
    }
  })

  it('of the demo model yield to the only server that was found, and to what is stored', async () => {
    const model = await startScriptedModel({ respond: (request) => replyTo(request, 'found') })
    const entry = (name: string) => ({ name, base_url: model.url, models: [{ id: 'bge-embed' }, { id: `of-${name}` }] })
    const demo = { ...model.env, OPENAI_API_KEY: 'demo', DEMO_MODEL: 'on', DEFAULT_MODEL: 'demo-model' }
    const listedBy = async (found: object[]) => {
      const service = await startService({
        worker: false,
        env: { ...demo, MODEL_SERVERS_FOUND: JSON.stringify(found) },
      })
      try {
        const user = await insertUser(service)
        const { models, is_demo } = (await user.call('GET', '/user/models')).body
        return [is_demo, models.map(({ id }: any) => id)]
      } finally {
        await service.close()
      }
    }
    try {
      expect(await listedBy([entry('one')])).toEqual([false, ['of-one', 'bge-embed']])
      expect(await listedBy([entry('one'), entry('two')])).toEqual([true, ['demo-model']])
    } finally {
      await model.close()
    }
  })
})

function serverIn(body: any, id: string) {
  return body.servers.find(({ server_id: other }: any) => other === id)
}

/** A tool is called where there is one; everything else is answered with the text, in two pieces. */
function replyTo({ body }: { body: { tools?: { function: { name: string } }[] } }, text: string) {
  const [tool] = body.tools ?? []
  if (tool) return { toolCalls: [{ id: newId(), name: tool.function.name, arguments: { city: 'Paris' } }] }
  return { text: [text.slice(0, 5), text.slice(5)] }
}
