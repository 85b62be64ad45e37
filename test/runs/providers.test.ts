import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadSettings } from '../../infra/config.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { type TestService, startService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'
import { conversation } from './support.ts'

describe('several model servers', () => {
  let folder: string
  let first: ScriptedModel
  let second: ScriptedModel
  let other: ScriptedModel
  let service: TestService
  const logged: string[] = []
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'providers-'))
    ;[first, second, other] = await Promise.all([startScriptedModel(), startScriptedModel(), startScriptedModel()])
    const file = path.join(folder, 'models.json')
    await writeFile(
      file,
      JSON.stringify({
        providers: [
          {
            name: 'first',
            base_url: first.env['OPENAI_BASE_URL'],
            api_key_env: 'FIRST_KEY',
            models: [
              {
                id: 'shared',
                provider_model: 'vendor/shared-1',
              },
              { id: 'small', context_tokens: 4096 },
            ],
          },
          {
            name: 'second',
            base_url: second.env['OPENAI_BASE_URL'],
            models: [{ id: 'shared', context_tokens: 32_000 }, { id: 'spare' }],
          },
        ],
        fallbacks: { small: ['spare'] },
      }),
    )
    await writeFile(path.join(folder, 'key'), 'the-key-of-first\n')
    service = await startService({
      env: {
        ...other.env,
        MODELS_FILE: file,
        FIRST_KEY_FILE: path.join(folder, 'key'),
        MODEL_PRICES: JSON.stringify({
          currency: 'usd',
          models: {
            shared: { input: 1, output: 2 },
            small: { input: 0, output: 0 },
            spare: { input: 1e6, output: 2e6 },
          },
        }),
        METRICS_PORT: '0',
        LOG_LEVEL: 'warn',
      },
      onLog: (line) => logged.push(line),
    })
  })
  afterAll(async () => {
    await service.close()
    await Promise.all([first.close(), second.close(), other.close()])
    await rm(folder, { recursive: true, force: true })
  })
  const talkTo = (model?: string) => conversation(service, model === undefined ? {} : { 'type==agent/model': model })

  it('are chosen by the model of the assistant, each with its own key and name of the model', async () => {
    const reply = first.reply({ text: 'From the first.' })
    const run = await (await talkTo('shared')).stream('Who are you?')
    expect(run.messages.at(-1)?.data.content).toBe('From the first.')
    const { headers, body } = await reply.arrived
    expect(headers.authorization).toBe('Bearer the-key-of-first')
    expect(body.model).toBe('vendor/shared-1')
    other.reply({ text: 'From the default.' })
    expect((await (await talkTo()).stream('And you?')).messages.at(-1)?.data.content).toBe('From the default.')
  })

  it('take over from a server that fails before it answers; the next run asks the first server again', async () => {
    const talk = await talkTo('shared')
    first.reply({ status: 503, errorMessage: 'overloaded' })
    const reply = second.reply({ text: 'From the second.' })
    const run = await talk.stream('Who answers?')
    expect(run).toMatchObject({ end: 'end' })
    expect(run.messages.at(-1)?.data.content).toBe('From the second.')
    const { headers, body } = await reply.arrived
    expect(body.model).toBe('shared')
    // The key of one provider goes to no other.
    expect(headers.authorization).not.toContain('the-key-of-first')
    expect(logged.some((line) => line.includes('the next one is asked') && line.includes('"next":"second"'))).toBe(true)
    first.reply({ text: 'The first again.' })
    expect((await talk.stream('And now?')).messages.at(-1)?.data.content).toBe('The first again.')
  })

  it('are used as fallbacks of the settings, also after a refused key', async () => {
    first.reply({ status: 401 })
    second.reply({ text: 'The spare one.' })
    expect((await (await talkTo('small')).stream('Hello?')).messages.at(-1)?.data.content).toBe('The spare one.')
  })

  /** As the worker's metrics show them. */
  async function promptTokens(model: string): Promise<number> {
    const metrics = await (await fetch(`http://127.0.0.1:${service.worker?.metricsPort}/metrics`)).text()
    const line = metrics.split('\n').find((text) => text.includes(`model_tokens_total{model="${model}",kind="prompt"}`))
    return Number(line?.split(' ').at(-1) ?? 0)
  }

  it('have tokens, prices and metrics counted for the one that answered each step', async () => {
    const talk = await talkTo('small')
    const user = talk.client
    await user.put(`/projects/${user.projectId}/budget`, { tokens: 1_000_000 })
    const before = await promptTokens('spare')
    // The first step is answered by the fallback, the second one by the model of the assistant.
    first.reply({ status: 503 })
    second.reply({
      toolCalls: [{ name: 'no_such_tool', arguments: {} }],
      usage: { prompt_tokens: 7, completion_tokens: 3 },
    })
    first.reply({ text: 'Small again.', usage: { prompt_tokens: 100, completion_tokens: 50 } })
    const run = await talk.stream('What does it cost?')
    expect(run.messages.at(-1)?.data.content).toBe('Small again.')

    const record = await service.collections.runs.findById(run.runId).lean()
    expect(record).toMatchObject({
      model: 'small',
      usage: { prompt_tokens: 107, completion_tokens: 53, total_tokens: 160 },
      usage_by_model: [
        { model: 'spare', prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
        { model: 'small', prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
      ],
    })
    expect((await user.get(`/projects/${user.projectId}/budget`)).used).toMatchObject({ tokens: 160, money: 13 })
    const usage = await user.get('/user/usage')
    expect(usage).toMatchObject({ runs: 1, total_tokens: 160, cost: 13 })
    expect(usage.models_used).toMatchObject([
      { model: 'small', runs: 1, total_tokens: 150, cost: 0 },
      { model: 'spare', runs: 0, total_tokens: 10, cost: 13 },
    ])
    expect((await promptTokens('spare')) - before).toBe(7)

    // A run whose only answer came from the fallback costs what that one costs.
    first.reply({ status: 503 })
    second.reply({ text: 'Spare.', usage: { prompt_tokens: 1, completion_tokens: 1 } })
    const other = await talk.stream('And this?')
    expect(await service.collections.runs.findById(other.runId).lean()).toMatchObject({ model: 'spare' })
    expect((await user.get('/user/usage')).cost).toBe(16)
  })

  it('do not continue a partial answer of another server: the step is retried as a whole', async () => {
    first.reply({ text: ['Half an '], breakConnection: true })
    first.reply({ text: 'A whole answer.' })
    const run = await (await talkTo('shared')).stream('Tell me')
    expect(run.messages.at(-1)?.data.content).toBe('A whole answer.')
  })

  it('are not asked after an invalid request', async () => {
    first.reply({ status: 400, errorMessage: 'no such parameter' })
    const run = await (await talkTo('shared')).stream('Hello')
    expect(run).toMatchObject({ end: 'error', error: { type: 'model_refused_request' } })
  })

  it('are listed for users, without keys and addresses', async () => {
    const user = await insertUser(service)
    const { models } = await user.get('/user/models')
    expect(models.map(({ id }: any) => id)).toEqual([service.settings.defaultModel, 'shared', 'small', 'spare'])
    expect(models[0]).toMatchObject({ is_default: true, providers: [], fallbacks: [] })
    expect(models[1]).toEqual({
      id: 'shared',
      is_default: false,
      // The smaller of both.
      context_tokens: 32_000,
      providers: ['first', 'second'],
      prices: { currency: 'usd', input: 1, output: 2 },
      fallbacks: [],
    })
    expect(models[2]).toMatchObject({ context_tokens: 4096, fallbacks: ['spare'] })
    expect(JSON.stringify(models)).not.toMatch(/http|the-key/)
  })

  it('need no OPENAI_API_KEY; other models then fail with a clear error', async () => {
    const providers = { providers: [{ name: 'p', base_url: first.env['OPENAI_BASE_URL'], models: [{ id: 'only' }] }] }
    const alone = await startService({ env: { MODELS: JSON.stringify(providers), DEFAULT_MODEL: 'missing' } })
    try {
      const run = await (await conversation(alone)).stream('Hello')
      expect(run).toMatchObject({ end: 'error', error: { type: 'model_error' } })
      first.reply({ text: 'Here.' })
      const found = await conversation(alone, { 'type==agent/model': 'only' })
      expect((await found.stream('Hello')).messages.at(-1)?.data.content).toBe('Here.')
    } finally {
      await alone.close()
    }
  })
})

describe('the setting MODELS', () => {
  const required = { SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'), JWT_SECRET: 'a secret of some length' }
  const problemsOf = (models: unknown, env: Record<string, string> = {}) => {
    try {
      loadSettings({ ...required, ...env, MODELS: typeof models === 'string' ? models : JSON.stringify(models) })
      return ''
    } catch (error) {
      return String(error)
    }
  }
  const provider = { name: 'p', base_url: 'https://models.example.com/v1', models: [{ id: 'm' }] }

  it('reports problems with their path and without values', () => {
    expect(problemsOf({ providers: [provider] })).toBe('')
    expect(problemsOf('{')).toContain('MODELS is not JSON')
    expect(problemsOf({ providers: [{ ...provider, api_key: 'sk-secret' }] })).toMatch(
      /MODELS is wrong at \/providers\/0/,
    )
    expect(problemsOf({ providers: [{ ...provider, api_key: 'sk-secret' }] })).not.toContain('sk-secret')
    expect(problemsOf({ providers: [{ ...provider, api_key_env: 'THE_KEY' }] })).toContain(
      'the key THE_KEY of provider p',
    )
    expect(problemsOf({ providers: [{ ...provider, api_key_env: 'THE_KEY' }] }, { THE_KEY: 'x' })).toBe('')
    expect(problemsOf({ providers: [provider], fallbacks: { m: ['n'] } })).toContain('names n in fallbacks')
    expect(problemsOf({ providers: [{ ...provider, models: [] }] })).toContain('/providers/0/models')
  })
})
