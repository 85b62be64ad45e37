import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../local/services/ports.ts'
import { eventually } from '../support/eventually.ts'
import { pythonLiteLlmProxy } from '../support/framework-packages.ts'
import { useModelService } from '../support/model-service.ts'
import { installTimeoutMs, pythonCompiled } from '../support/python-packages.ts'
import { oblige } from './frameworks/obliging-model.ts'
import { v1Client } from './v1-client.ts'

const masterKey = 'sk-of-the-proxy'
const weather = {
  name: 'get_weather',
  description: 'The weather of a place',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const called = { name: 'get_weather', arguments: '{"city":"word"}' }

describe("LiteLLM's proxy before /v1", () => {
  const service = useModelService({ env: { EMBEDDING_DIMENSIONS: '64' }, respond: oblige })
  let client: OpenAI
  let close = async () => {}

  beforeAll(async () => {
    const { client: own } = await v1Client(service)
    const folder = await mkdtemp(path.join(tmpdir(), 'litellm-'))
    const server = { api_base: own.baseURL, api_key: own.apiKey }
    const model = (name: string, asked: string) => ({ model_name: name, litellm_params: { model: asked, ...server } })
    const config = path.join(folder, 'config.yaml')
    // JSON is YAML.
    await writeFile(
      config,
      JSON.stringify({
        model_list: [model('team', 'openai/scripted'), model('vectors', 'openai/text-embedding-3-small')],
        general_settings: { master_key: masterKey },
      }),
    )
    const port = String(await freePort())
    const program = path.join(await pythonLiteLlmProxy(), 'litellm')
    const proxy = spawn(program, ['--config', config, '--host', '127.0.0.1', '--port', port, '--telemetry', 'False'], {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: folder, ...pythonCompiled, LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
      stdio: 'ignore',
    })
    const ended = once(proxy, 'exit')
    close = async () => {
      proxy.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    }
    const url = `http://127.0.0.1:${port}`
    const isUp = () =>
      fetch(`${url}/health/liveliness`).then(
        ({ ok }) => ok,
        () => false,
      )
    await eventually('the start of the proxy', isUp, 120_000)
    client = new OpenAI({ baseURL: `${url}/v1`, apiKey: masterKey, maxRetries: 0 })
  }, installTimeoutMs + 150_000)
  afterAll(() => close())

  it('answers chat completions, whole and streamed, with calls and schemas', async () => {
    const ask = { model: 'team', messages: [{ role: 'user' as const, content: 'Good morning' }] }
    const whole = await client.chat.completions.create(ask)
    expect(whole.choices[0]?.message.content).toBe('You said: Good morning')
    expect(whole.usage?.total_tokens).toBe(25)
    const chunks = await Array.fromAsync(await client.chat.completions.create({ ...ask, stream: true }))
    expect(chunks.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('')).toBe('You said: Good morning')
    const tools = [{ type: 'function' as const, function: weather }]
    const { choices } = await client.chat.completions.create({ ...ask, tools })
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: [{ function: called }] } })
    const format = { type: 'json_schema' as const, json_schema: { name: 'place', schema: weather.parameters } }
    const structured = await client.chat.completions.create({ ...ask, response_format: format })
    expect(structured.choices[0]?.message.content).toBe(called.arguments)
  })

  it('answers responses, whole and streamed, and goes on from one', async () => {
    const first = await client.responses.create({ model: 'team', input: 'Good morning' })
    expect(first.output_text).toBe('You said: Good morning')
    const next = await client.responses.create({ model: 'team', input: 'Again', previous_response_id: first.id })
    expect(next.output_text).toBe('You said: Again')
    expect(service.model.requests.at(-1)?.body.messages).toHaveLength(3)
    const events = await Array.fromAsync(await client.responses.create({ model: 'team', input: 'Go', stream: true }))
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } })
    const tools = [{ type: 'function' as const, strict: false, ...weather }]
    const { output } = await client.responses.create({ model: 'team', input: 'Go', tools })
    expect(output).toMatchObject([{ type: 'function_call', ...called }])
  })

  it('embeds, completes texts, and passes refusals on', async () => {
    const { data } = await client.embeddings.create({ model: 'vectors', input: ['One', 'two'] })
    expect(data.map(({ embedding }) => embedding.length)).toEqual([64, 64])
    const text = await client.completions.create({ model: 'team', prompt: 'Good morning' })
    expect(text.choices[0]?.text).toBe('You said: Good morning')
    const refused = client.chat.completions.create({
      model: 'team',
      messages: [{ role: 'user', content: 'Hi' }],
      n: 99,
    })
    await expect(refused).rejects.toMatchObject({ status: 400, message: expect.stringContaining('n') })
  })
})
