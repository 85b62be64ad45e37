import { spawn } from 'node:child_process'
import { once } from 'node:events'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { linesOf } from '../../infra/lines.ts'
import { plainEnv } from '../support/plain-env.ts'

type Message = OpenAI.ChatCompletionMessageParam

const retrieval: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: { name: 'retrieval', parameters: { type: 'object', properties: { query: { type: 'string' } } } },
}

/** Runs the demo model as `npm start` does, in a process of its own, and talks to it through the real client. */
async function startDemoModel(env: Record<string, string>) {
  const child = spawn(process.execPath, ['local/demo-model/main.ts'], {
    env: { ...plainEnv(), DEMO_MODEL_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const { value: line } = await linesOf(child.stdout).next()
  const { port }: { port: number } = JSON.parse(line ?? '')
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    stop: async () => {
      child.kill('SIGTERM')
      return (await exited)[0]
    },
  }
}

describe('the demo model', () => {
  let demo: Awaited<ReturnType<typeof startDemoModel>>
  let client: OpenAI
  beforeAll(async () => {
    demo = await startDemoModel({ DEMO_MODEL_TOKEN_DELAY_MS: '1' })
    client = new OpenAI({ baseURL: demo.baseUrl, apiKey: 'none', maxRetries: 0 })
  })
  afterAll(async () => {
    expect(await demo.stop()).toBe(0)
  })

  const ask = (messages: Message[], extra: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}) =>
    client.chat.completions.create({ model: 'anything', messages, ...extra })

  it('lists its models', async () => {
    const models = await client.models.list()
    expect(models.data.map(({ id }) => id)).toEqual(['demo-model', 'demo-embedding'])
  })

  it('says that it is a demo model, counts tokens, and accepts content in parts', async () => {
    const answer = await ask([{ role: 'user', content: [{ type: 'text', text: 'Good morning' }] }])
    expect(answer.model).toBe('demo-model')
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'stop' })
    expect(answer.choices[0]?.message.content).toContain('demo model')
    expect(answer.choices[0]?.message.content).toContain('Good morning')
    const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = answer.usage ?? {}
    expect(prompt).toBeGreaterThan(0)
    expect(completion).toBeGreaterThan(20)
    expect(total).toBe((prompt ?? 0) + (completion ?? 0))
  })

  it('streams the same answer in many pieces, with usage at the end', async () => {
    const messages: Message[] = [{ role: 'user', content: 'Good morning' }]
    const whole = await ask(messages)
    const stream = await client.chat.completions.create({
      model: 'm',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    })
    const pieces: string[] = []
    let usage: unknown
    for await (const chunk of stream) {
      const text = chunk.choices[0]?.delta.content
      if (text) pieces.push(text)
      usage = chunk.usage ?? usage
    }
    expect(pieces.length).toBeGreaterThan(20)
    expect(pieces.join('')).toBe(whole.choices[0]?.message.content)
    expect(usage).toEqual(whole.usage)
  })

  it('stops at max_tokens', async () => {
    const answer = await ask([{ role: 'user', content: 'Hello' }], { max_tokens: 5 })
    expect(answer.choices[0]?.finish_reason).toBe('length')
    expect(answer.usage?.completion_tokens).toBeLessThanOrEqual(5)
  })

  it.each(['streamed', 'whole'])('searches for a question when it has the tool (%s)', async (way) => {
    const params = {
      model: 'm',
      messages: [{ role: 'user' as const, content: 'When do we deploy?' }],
      tools: [retrieval],
    }
    const message =
      way === 'whole'
        ? (await client.chat.completions.create(params)).choices[0]?.message
        : await client.chat.completions.stream(params).finalMessage()
    expect(message?.tool_calls).toMatchObject([
      { type: 'function', function: { name: 'retrieval', arguments: '{"query":"When do we deploy?"}' } },
    ])
  })

  it('answers without tools when tool_choice forbids them', async () => {
    const answer = await ask([{ role: 'user', content: 'Hi' }], { tools: [retrieval], tool_choice: 'none' })
    expect(answer.choices[0]?.message.tool_calls).toBeUndefined()
  })

  const after = (result: string, question = 'When do we deploy the service?'): Message[] => [
    { role: 'user', content: question },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'retrieval', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: result },
  ]

  it.each([
    [
      'JSON',
      JSON.stringify({
        passages: [
          { file: 'notes.txt', text: 'Lunch is at noon.' },
          {
            file: 'guide.pdf',
            page: 3,
            text: 'Read this first. The service is deployed on Tuesdays: we deploy at nine.',
          },
        ],
      }),
    ],
    [
      'text',
      '[1] notes.txt\nLunch is at noon.\n\n[2] guide.pdf, page 3\nRead this first. We deploy the service on Tuesdays.',
    ],
  ])('answers from the passages, naming file and page (%s)', async (_form, result) => {
    const answer = (await ask(after(result), { tools: [retrieval] })).choices[0]?.message
    expect(answer?.tool_calls).toBeUndefined()
    expect(answer?.content).toContain('demo model')
    expect(answer?.content).toContain('Tuesdays')
    expect(answer?.content).toContain('(guide.pdf, page 3)')
    expect(answer?.content).not.toContain('Lunch')
  })

  it('says so when the passages contain no answer', async () => {
    const answer = await ask(after('[]', 'Who painted it?'))
    expect(answer.choices[0]?.message.content).toContain('demo model')
    const other = await ask(after('[1] a.txt\nNothing here.', 'Who painted it?'))
    expect(other.choices[0]?.message.content).toContain('nothing about that')
  })

  it('embeds texts that share words close to each other, in both encodings', async () => {
    const input = ['how do I deploy the service', 'deployment of services', 'bread and butter']
    const [query, near, far] = (await client.embeddings.create({ model: 'e', input, dimensions: 256 })).data
    const dot = (a: number[] = [], b: number[] = []) =>
      a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
    expect(query?.embedding).toHaveLength(256)
    expect(dot(query?.embedding, query?.embedding)).toBeCloseTo(1)
    expect(dot(query?.embedding, near?.embedding)).toBeGreaterThan(dot(query?.embedding, far?.embedding) + 0.1)
    const floats = await client.embeddings.create({ model: 'e', input, dimensions: 256, encoding_format: 'float' })
    expect(floats.data[0]?.embedding[0]).toBeCloseTo(query?.embedding[0] ?? 99)
    const standard = await client.embeddings.create({ model: 'e', input: '' })
    expect(standard.data[0]?.embedding).toHaveLength(1536)
  })

  it.each([
    ['/chat/completions', '{"messages":[]}', 400],
    ['/chat/completions', '{"messages"', 400],
    ['/embeddings', '{"input":3}', 400],
    ['/nowhere', '{}', 404],
  ])('refuses invalid requests: %s %s', async (path, body, status) => {
    const response = await fetch(`${demo.baseUrl}${path}`, { method: 'POST', body })
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } })
  })
})

it('a question about the conversation is answered from the conversation', async () => {
  const { answerTo } = await import('../../local/demo-model/answer.ts')
  const messages = [
    { role: 'user', content: 'My name is Ada.' },
    { role: 'assistant', content: 'Hello.' },
    { role: 'user', content: 'What is my name?' },
  ]
  expect(answerTo(messages, [])).toEqual({ text: expect.stringContaining('“My name is Ada.”') })
  expect(answerTo(messages.slice(-1), [])).toEqual({ text: expect.not.stringContaining('before') })
})
