import { describe, expect, it } from 'vitest'
import { useSharedService } from '../support/shared-service.ts'
import type { ChatRequest, ScriptedReply } from '../support/scripted-model.ts'
import { pngUrl } from '../support/png.ts'
import { v1Client } from './v1-client.ts'

/** What an answer must hold by the published description of Open Responses (openresponses.org), without null unless it says so. */
const required: Record<string, string> = {
  id: 'string',
  object: 'string',
  created_at: 'number',
  completed_at: 'number or null',
  status: 'string',
  incomplete_details: 'object or null',
  model: 'string',
  previous_response_id: 'string or null',
  instructions: 'string or null',
  output: 'object',
  error: 'object or null',
  tools: 'object',
  tool_choice: 'string or object',
  truncation: 'string',
  parallel_tool_calls: 'boolean',
  text: 'object',
  top_p: 'number',
  presence_penalty: 'number',
  frequency_penalty: 'number',
  top_logprobs: 'number',
  temperature: 'number',
  reasoning: 'object or null',
  user: 'string or null',
  usage: 'object or null',
  max_output_tokens: 'number or null',
  max_tool_calls: 'number or null',
  store: 'boolean',
  background: 'boolean',
  service_tier: 'string',
  metadata: 'object',
  safety_identifier: 'string or null',
  prompt_cache_key: 'string or null',
}

const kindOf = (value: unknown) => (value === null ? 'null' : typeof value)

function problemsOf(response: Record<string, unknown>): string[] {
  return Object.entries(required).flatMap(([name, kinds]) =>
    kinds.split(' or ').includes(kindOf(response[name])) ? [] : [`${name} is ${kindOf(response[name])}`],
  )
}

const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather of a place',
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
}

function respond({ body }: ChatRequest): ScriptedReply {
  const last = body.messages.at(-1)
  if (body.tools !== undefined && last?.role !== 'tool')
    return { toolCalls: [{ name: 'get_weather', arguments: ['{"location":', '"Rome"}'] }] }
  return { text: ['One ', 'two'], usage: { prompt_tokens: 3, completion_tokens: 2 } }
}

describe('Open Responses', () => {
  const service = useSharedService({ respond })
  const user = (content: unknown) => [{ type: 'message', role: 'user', content }]
  const cases: [string, object][] = [
    ['a text', { input: user('Say hello.') }],
    ['a text alone', { input: 'Say hello.' }],
    ['a system message', { input: [{ type: 'message', role: 'system', content: 'Be brief.' }, ...user('Hello')] }],
    ['a function', { input: user('The weather?'), tools: [weather] }],
    [
      'a chosen function',
      { input: user('The weather?'), tools: [weather], tool_choice: { type: 'function', name: 'get_weather' } },
    ],
    [
      'a picture',
      {
        input: user([
          { type: 'input_text', text: 'What is this?' },
          { type: 'input_image', image_url: pngUrl },
        ]),
      },
    ],
    [
      'a file',
      {
        input: user([
          { type: 'input_text', text: 'What is this?' },
          {
            type: 'input_file',
            filename: 'a.txt',
            file_data: `data:text/plain;base64,${Buffer.from('A').toString('base64')}`,
          },
        ]),
      },
    ],
    [
      'several turns',
      {
        input: [
          ...user('I am Ann.'),
          { type: 'message', role: 'assistant', content: 'Hello Ann.' },
          ...user('Who am I?'),
        ],
      },
    ],
    [
      'every value that has a default',
      { input: 'Hi', temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0, service_tier: 'auto' },
    ],
    [
      'all that can be included',
      {
        input: 'Hi',
        include: [
          'web_search_call.action.sources',
          'file_search_call.results',
          'message.output_text.logprobs',
          'message.input_image.image_url',
          'reasoning.encrypted_content',
        ],
      },
    ],
    ['a summary of the reasoning', { input: 'Hi', reasoning: { effort: 'low', summary: 'detailed' } }],
    ['probabilities of tokens', { input: 'Hi', top_logprobs: 3 }],
  ]

  it.each(cases)('%s is answered with every member of a response, whole and streamed', async (_what, body) => {
    const { owner } = await v1Client(service)
    const whole = await owner.post('/v1/responses', { model: 'scripted', ...body })
    expect(problemsOf(whole)).toEqual([])
    expect(whole).toMatchObject({ status: 'completed', temperature: 1, top_p: 1, service_tier: 'default' })
    for (const tool of whole['tools'])
      expect(tool).toMatchObject({ description: expect.any(String), parameters: expect.any(Object), strict: false })
    const streamed = await owner.fetch('POST', '/v1/responses', { model: 'scripted', ...body, stream: true })
    const events = (await streamed.text())
      .split('\n')
      .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice('data: '.length))] : []))
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, index) => index))
    const last = events.at(-1)
    expect(last.type).toBe('response.completed')
    expect(problemsOf(last.response)).toEqual([])
    expect(last.response.output).toMatchObject(
      whole['output'].map(({ id: _id, call_id: _call, ...item }: Record<string, unknown>) => item),
    )
    const types = events.map(({ type }) => type)
    const kind =
      whole['output'][0].type === 'function_call' ? 'response.function_call_arguments' : 'response.output_text'
    expect(types).toEqual(expect.arrayContaining([`${kind}.delta`, `${kind}.done`, 'response.output_item.done']))
  })

  it('an output of a function, and a response before, go on', async () => {
    const { owner } = await v1Client(service)
    const first = await owner.post('/v1/responses', { model: 'scripted', input: 'The weather?', tools: [weather] })
    const [call] = first['output']
    const output = [{ type: 'function_call_output', call_id: call.call_id, output: 'sunny' }]
    const second = await owner.post('/v1/responses', {
      model: 'scripted',
      input: output,
      previous_response_id: first['id'],
      tools: [weather],
    })
    expect(problemsOf(second)).toEqual([])
    expect(second).toMatchObject({ previous_response_id: first['id'], output: [{ type: 'message' }] })
  })
})
