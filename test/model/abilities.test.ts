import { expect, test } from 'vitest'
import { catalogOf, nothingStored } from '../../domain/model-catalog.ts'
import { type ModelPrices, costOf, priceOf } from '../../domain/model-prices.ts'
import type { ProvidedModel } from '../../domain/model-providers.ts'
import { abilitiesOf, contextWindowOf, listedPriceOf } from '../../infra/model/known-models.ts'
import { createRoutedModel } from '../../infra/model/routed-model.ts'
import type { ChatRequest, PromptMessage } from '../../services/runs/chat-model.ts'
import { modelBefore, chunk, stop } from './ask.ts'

const picture: PromptMessage = {
  role: 'user',
  content: [
    { type: 'text', text: 'What is this?' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
  ],
}
const tool = { name: 'weather', description: '', parameters: { type: 'object' } }

/** A model at these providers, and which of them was asked with what. */
function routed(providers: Partial<ProvidedModel>[]) {
  const asked: ChatRequest[] = []
  const model = createRoutedModel({
    chat: {
      async *stream(request) {
        asked.push(request)
        yield { type: 'text', text: 'Seen.' }
      },
    },
    models: {
      current: () => ({
        providers: {
          models: providers.map((provider, place) => ({
            id: 'shared',
            provider: `p${place}`,
            providerModel: `m${place}`,
            baseUrl: 'https://models.example/v1',
            apiKey: 'k',
            contextTokens: undefined,
            ...provider,
          })),
          fallbacks: new Map(),
        },
      }),
    },
    onFallback: () => undefined,
  })
  const ask = (request: Partial<ChatRequest>) =>
    Array.fromAsync(
      model.stream({
        account: { apiKey: 'k', baseUrl: undefined, setByUser: false },
        model: 'shared',
        messages: [],
        tools: [],
        temperature: undefined,
        maxTokens: undefined,
        sampling: {},
        responseFormat: undefined,
        signal: new AbortController().signal,
        ...request,
      }),
    )
  return { asked, ask }
}

test('a model that sees no pictures is not asked about one, and calls no tools it does not know', async () => {
  const blind = routed([{ abilities: { pictures: false } }])
  await expect(blind.ask({ messages: [picture] })).rejects.toMatchObject({
    statusCode: 400,
    message: 'The model sees no pictures.',
  })
  const idle = routed([{ abilities: { tools: false } }])
  await expect(idle.ask({ tools: [tool] })).rejects.toThrow('The model calls no tools.')
  expect([...blind.asked, ...idle.asked]).toEqual([])
})

test('a model that writes no JSON by a schema, or does not think, is not asked for it by a caller', async () => {
  const responseFormat = { type: 'json_schema' as const, json_schema: { name: 'a', schema: {} } }
  const plain = routed([{ abilities: { json: false, thinking: false } }])
  await expect(plain.ask({ responseFormat, setByCaller: ['response_format'] })).rejects.toThrow(
    'The model writes no JSON by a schema.',
  )
  const sampling = { reasoning_effort: 'high' as const }
  await expect(plain.ask({ sampling, setByCaller: ['reasoning_effort'] })).rejects.toThrow('The model does not think.')
  expect(plain.asked).toEqual([])
  // What only its assistant says is left out.
  await plain.ask({ sampling })
  expect(plain.asked[0]?.sampling).toEqual({})
})

test('a model costs at its maker what the list says, unless an operator set prices', () => {
  const claude = {
    kind: 'anthropic' as const,
    baseUrl: 'https://api.anthropic.com/v1',
    providerModel: 'claude-sonnet-4-5',
  }
  const listed = { input: 3, output: 15, cached_input: 0.3, cache_write: 3.75 }
  expect(listedPriceOf(claude)).toEqual(listed)
  expect(listedPriceOf({ baseUrl: 'http://127.0.0.1:8000/v1', providerModel: 'claude-sonnet-4-5' })).toBeUndefined()
  const provided = [{ ...claude, id: 'mine', provider: 'p', apiKey: 'k', contextTokens: undefined }]
  const catalog = (prices?: ModelPrices) =>
    catalogOf(
      {
        account: { apiKey: 'k', baseUrl: undefined },
        isDemo: false,
        providers: { models: provided, fallbacks: new Map() },
        defaultModel: undefined,
        prices,
        found: [],
      },
      nothingStored,
      listedPriceOf,
    ).prices
  expect(priceOf(catalog(), 'mine')).toEqual(listed)
  expect(priceOf(catalog(), 'gpt-4o-mini')).toMatchObject({ input: 0.15, output: 0.6 })
  expect(priceOf(catalog(), 'unheard-of')).toBeUndefined()
  const one = { input: 1, output: 1 }
  expect(priceOf(catalog({ currency: 'usd', models: new Map([['other', one]]) }), 'mine')).toEqual(listed)
  expect(priceOf(catalog({ currency: 'usd', models: new Map([['*', one]]) }), 'mine')).toEqual(one)
  expect(priceOf(catalog({ currency: 'eur', models: new Map() }), 'mine')).toBeUndefined()
  // 100 tokens are neither read from the cache nor written to it.
  const usage = { prompt_tokens: 1100, completion_tokens: 10, cached_tokens: 600, cache_write_tokens: 400 }
  expect(costOf(catalog(), 'mine', usage) * 1_000_000).toBeCloseTo(100 * 3 + 600 * 0.3 + 400 * 3.75 + 10 * 15)
})

test('of several providers those are asked that can do what is needed', async () => {
  const { asked, ask } = routed([{ abilities: { pictures: false } }, {}])
  await ask({ messages: [picture] })
  await ask({ messages: [{ role: 'user', content: 'Hello' }] })
  expect(asked.map(({ model }) => model)).toEqual(['m1', 'm0'])
})

test('pictures of earlier messages and of tools become words for a model that sees none', async () => {
  const { asked, ask } = routed([{ abilities: { pictures: false } }])
  const shown = typeof picture.content === 'string' || picture.role !== 'user' ? [] : picture.content
  const result: PromptMessage = { role: 'tool', tool_call_id: 'a', content: 'Drawn.', shown }
  await ask({
    messages: [picture, { role: 'assistant', content: 'A cat.' }, { role: 'user', content: 'And?' }, result],
  })
  expect(JSON.stringify(asked[0]?.messages)).toContain('[A picture that this model cannot see.]')
  expect(JSON.stringify(asked[0]?.messages)).toContain('that you cannot see.]')
  expect(JSON.stringify(asked[0]?.messages)).not.toContain('iVBORw0KGgo=')
})

test('what is known of a model holds at its maker, and operators know better', () => {
  const atMaker = { kind: 'anthropic', baseUrl: 'https://gateway.example', providerModel: 'claude-sonnet-4-5' } as const
  expect(abilitiesOf(atMaker)).toEqual({ pictures: true, tools: true, thinking: true, json: true })
  expect(abilitiesOf({ ...atMaker, abilities: { pictures: false } })).toMatchObject({ pictures: false, tools: true })
  const elsewhere = { baseUrl: 'http://127.0.0.1:8000/v1', providerModel: 'claude-sonnet-4-5' }
  expect(abilitiesOf(elsewhere)).toEqual({})
  expect(abilitiesOf({ ...elsewhere, baseUrl: 'https://api.openai.com/v1', providerModel: 'constructor' })).toEqual({})
  // The list names neither tools nor pictures of it, and it has tools all the same.
  const unnamed = { baseUrl: 'https://api.openai.com/v1', providerModel: 'o3-mini' }
  expect(abilitiesOf(unnamed)).toMatchObject({ thinking: true })
  expect(abilitiesOf(unnamed)).not.toHaveProperty('pictures')
  expect(contextWindowOf('claude-sonnet-4-5', 1)).toBe(200_000)
  expect(contextWindowOf('deepseek-r1', 1, { baseUrl: 'http://127.0.0.1:11434/v1' })).toBe(1)
  expect(contextWindowOf('deepseek-r1', 1, { baseUrl: 'https://api.deepseek.com' })).toBe(65_536)
  expect(contextWindowOf('gpt-4o-mini', 1)).toBe(128_000)
  expect(contextWindowOf('somebody/elses-model', 1)).toBe(1)
})

test('a model that thinks gets its instructions from a developer, where it takes them', async () => {
  const roleAt = async (baseUrl: string, model: string) => {
    const server = modelBefore(() => [chunk({ content: 'Hello.' }), stop], { baseUrl })
    await server.ask({
      model,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
    })
    return server.sent[0].messages[0].role
  }
  expect(await roleAt('https://api.openai.com/v1', 'gpt-5-mini')).toBe('developer')
  expect(await roleAt('https://api.openai.com/v1', 'o1-mini')).toBe('system')
  expect(await roleAt('https://api.openai.com/v1', 'gpt-4o')).toBe('system')
  expect(await roleAt('http://127.0.0.1:8000/v1', 'gpt-5-mini')).toBe('system')
})
