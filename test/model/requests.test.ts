import { describe, expect, it } from 'vitest'
import { repairedSchema } from '../../infra/model/tool-schema.ts'
import type { ChatRequest, PromptMessage } from '../../services/runs/chat-model.ts'
import { type Server, calls, chunk, modelBefore, stop } from './ask.ts'

const said = [chunk({ content: 'Fine.' }), stop]
const refused = (message: string, param: string | null = null, status = 400) => ({
  status,
  body: { error: { message, type: 'invalid_request_error', param, code: null } },
})
/** A server that refuses bodies that it does not take. */
const strict =
  (takes: (body: any) => boolean, refusal: ReturnType<typeof refused> | { status: number; body: unknown }): Server =>
  (body) =>
    takes(body) ? said : refusal
const namedRoles = (body: any): string[] => body.messages.map(({ role }: any) => role)
const call = (id: string, name = 'find') => ({ id, type: 'function' as const, function: { name, arguments: '{}' } })
const tool = (parameters: object, name = 'find') => ({ name, description: 'Finds.', parameters })
const withCall: PromptMessage[] = [
  { role: 'user', content: 'Find it' },
  { role: 'assistant', content: null, tool_calls: [call('call_9f8e7d6c5b4a')] },
  { role: 'tool', content: 'Found.', tool_call_id: 'call_9f8e7d6c5b4a' },
]

describe('a member that a server does not take', () => {
  const extra = (name: string) => ({
    status: 422,
    body: {
      object: 'error',
      message: { detail: [{ type: 'extra_forbidden', loc: ['body', name], msg: 'Extra inputs are not permitted' }] },
    },
  })
  it.each<[string, (body: any) => boolean, { status: number; body: unknown }, Partial<ChatRequest>]>([
    ['stream_options', (body) => !('stream_options' in body), extra('stream_options'), {}],
    [
      'stream_options, in a word',
      (body) => !('stream_options' in body),
      refused('Unrecognized request argument supplied: stream_options'),
      {},
    ],
    [
      'stream_options, as a text',
      (body) => !('stream_options' in body),
      { status: 400, body: 'unknown field "stream_options"' },
      {},
    ],
    [
      'max_tokens',
      (body) => body.max_completion_tokens === 7,
      refused(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        'max_tokens',
      ),
      { maxTokens: 7 },
    ],
    [
      'temperature',
      (body) => !('temperature' in body),
      refused(
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
        'temperature',
      ),
      { temperature: 0.2 },
    ],
    [
      'presence_penalty',
      (body) => !('presence_penalty' in body),
      refused('Model grok-4 does not support parameter presencePenalty.'),
      { sampling: { presence_penalty: 0.5 } },
    ],
    [
      'service_tier',
      (body) => !('service_tier' in body),
      {
        status: 400,
        body: [
          {
            error: {
              code: 400,
              message: 'Invalid JSON payload received. Unknown name "service_tier": Cannot find field.',
              status: 'INVALID_ARGUMENT',
            },
          },
        ],
      },
      { sampling: { service_tier: 'flex' } },
    ],
    [
      'parallel_tool_calls',
      (body) => !('parallel_tool_calls' in body),
      refused('Unknown parameter: parallel_tool_calls'),
      { tools: [tool({})], parallelToolCalls: true, setByCaller: ['parallel_tool_calls'] },
    ],
    [
      'strict',
      (body) => body.tools[0].function.strict === undefined,
      extra('tools.0.function.strict'),
      { tools: [{ ...tool({}), strict: false }], setByCaller: ['strict'] },
    ],
    [
      'seed',
      (body) => !('seed' in body),
      { status: 400, body: { detail: [{ loc: ['body', 'seed'], msg: 'Extra inputs are not permitted' }] } },
      { sampling: { seed: 3 } },
    ],
    [
      'response_format',
      (body) => !('response_format' in body) && /"city"/.test(body.messages[0].content),
      refused('This response_format type is unavailable now'),
      { responseFormat: { type: 'json_schema', json_schema: { name: 'a', schema: { properties: { city: {} } } } } },
    ],
    [
      'the least effort',
      (body) => body.reasoning_effort === 'low',
      refused(
        "Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'low', 'medium', and 'high'.",
        'reasoning_effort',
      ),
      { sampling: { reasoning_effort: 'none' }, setByCaller: ['reasoning_effort'] },
    ],
    [
      'an effort of the assistant, of Ollama',
      (body) => !('reasoning_effort' in body),
      refused('"llama3.2" does not support thinking'),
      { sampling: { reasoning_effort: 'high' } },
    ],
    [
      'several, of LiteLLM',
      (body) => !('tool_choice' in body),
      refused(
        "litellm.UnsupportedParamsError: openai does not support parameters: ['tool_choice'], for model=gpt-5.5. To drop these, set `litellm.drop_params=True` or for proxy: `litellm_settings: drop_params: true`. If you want to use these params dynamically send allowed_openai_params=['tool_choice'] in your request.",
      ),
      { tools: [tool({})], toolChoice: 'auto' },
    ],
    [
      'tool_choice, of llama.cpp',
      (body) => !('tool_choice' in body),
      refused('Unsupported param: tool_choice', null, 500),
      { tools: [tool({})], toolChoice: 'auto' },
    ],
    [
      'no effort',
      (body) => !('reasoning_effort' in body),
      refused('Argument not supported on this model: reasoning_effort'),
      { sampling: { reasoning_effort: 'none' }, setByCaller: ['reasoning_effort'] },
    ],
  ])('is left out or renamed, and the server remembered: %s', async (_name, takes, refusal, request) => {
    const server = modelBefore(strict(takes, refusal))
    expect((await server.ask(request)).content).toBe('Fine.')
    expect(server.sent).toHaveLength(2)
    await server.ask(request)
    expect(server.sent).toHaveLength(3)
    expect(server.dialects.learnt({ baseUrl: 'http://127.0.0.1/v1', model: 'stub' })).toHaveLength(1)
  })

  it('is refused to the caller who set it, with its name and the words of the server', async () => {
    const server = modelBefore(strict((body) => !('seed' in body), extra('seed')))
    const asked = { sampling: { seed: 3 }, setByCaller: ['seed'] }
    await expect(server.ask(asked)).rejects.toMatchObject({
      statusCode: 400,
      type: 'model_refused_request',
      message: 'The model does not take `seed`.',
      details: expect.stringContaining('Extra inputs are not permitted'),
    })
    expect(server.sent).toHaveLength(1)
    await expect(server.ask({ ...asked, setByCaller: ['max_tokens'] })).resolves.toMatchObject({ content: 'Fine.' })
    const before = server.sent.length
    await expect(server.ask(asked)).rejects.toMatchObject({ message: 'The model does not take `seed`.' })
    // Each value is judged by the server.
    expect(server.sent).toHaveLength(before + 1)
  })

  it.each<[string, Partial<ChatRequest>, (body: any) => boolean, string]>([
    [
      'a schema',
      {
        responseFormat: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'bad' } } },
        setByCaller: ['response_format'],
      },
      (body) => body.response_format?.json_schema.schema.type !== 'bad',
      "Invalid schema for response_format 'a': 'bad' is not permitted.",
    ],
    [
      'a schema that the caller did not set',
      { responseFormat: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'bad' } } } },
      (body) => body.response_format?.json_schema.schema.type !== 'bad',
      "Invalid schema for response_format 'a': 'bad' is not permitted.",
    ],
    [
      'an effort',
      { sampling: { reasoning_effort: 'xhigh' }, setByCaller: ['reasoning_effort'] },
      (body) => body.reasoning_effort !== 'xhigh',
      "Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model. Supported values are: 'low' and 'high'.",
    ],
    [
      'a tier',
      { sampling: { service_tier: 'flex' } },
      (body) => body.service_tier !== 'flex',
      'Flex is not available for this model: service_tier',
    ],
    [
      'a schema of a tool',
      { tools: [tool({ type: 'object', properties: { a: { format: 'bad' } } })] },
      (body) => !JSON.stringify(body).includes('bad'),
      "Invalid schema for function 'find': 'bad' is not valid.",
    ],
  ])('is known although one value of it is refused: %s', async (_name, bad, takes, words) => {
    const server = modelBefore(strict(takes, refused(words)))
    const isAsked = bad.setByCaller !== undefined
    const outcome: string = await server.ask(bad).then(
      ({ content }) => content,
      (error) => error.details,
    )
    expect(outcome).toContain(isAsked ? words : 'Fine.')
    expect(server.sent).toHaveLength(isAsked ? 1 : 2)
    expect(server.dialects.learnt({ baseUrl: 'http://127.0.0.1/v1', model: 'stub' })).toEqual([])
  })

  it('reaches the server although others were refused, if the caller set it', async () => {
    const server = modelBefore(() => said)
    server.dialects.remember({ baseUrl: 'http://127.0.0.1/v1', model: 'stub' }, [
      'without reasoning_effort',
      'effort_minimal_is_low',
    ])
    await server.ask({ sampling: { reasoning_effort: 'high' }, setByCaller: ['reasoning_effort'] })
    expect(server.sent[0].reasoning_effort).toBe('high')
  })

  it('is not left out because its value is wrong', async () => {
    const server = modelBefore(() => refused('temperature must be between 0 and 1', 'temperature'))
    await expect(server.ask({ temperature: 1.5 })).rejects.toMatchObject({
      type: 'model_refused_request',
      details: expect.stringContaining('between 0 and 1'),
    })
    expect(server.sent).toHaveLength(1)
  })

  it('is named in one answer after the other', async () => {
    const server = modelBefore((body) => {
      const name = ['stream_options', 'seed', 'top_p'].find((one) => one in body)
      return name === undefined ? said : extra(name)
    })
    expect((await server.ask({ sampling: { seed: 1, top_p: 0.5 } })).content).toBe('Fine.')
    expect(server.sent).toHaveLength(4)
  })

  it('is not asked for in a new form for ever', async () => {
    const server = modelBefore(() => refused('stream_options seed temperature are not supported'))
    await expect(server.ask({ temperature: 0, sampling: { seed: 1 } })).rejects.toMatchObject({
      type: 'model_refused_request',
    })
    expect(server.sent.length).toBeLessThanOrEqual(8)
  })

  it('max_tokens is renamed from the first request for the servers of the vendor', async () => {
    const server = modelBefore(() => said, { baseUrl: 'https://api.openai.com/v1' })
    await server.ask({ maxTokens: 5 })
    expect(server.sent[0]).toMatchObject({ max_completion_tokens: 5 })
    expect(server.sent[0]).not.toHaveProperty('max_tokens')
  })
})

describe('messages before a strict template', () => {
  const talk: PromptMessage[] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'One' },
    { role: 'user', content: [{ type: 'text', text: 'Two' }] },
    { role: 'assistant', content: 'Yes?' },
    { role: 'system', content: 'Now in rhymes.' },
    { role: 'user', content: 'Three' },
  ]

  it('have one system message at the beginning', async () => {
    const server = modelBefore(() => said)
    await server.ask({ messages: talk.slice(0, 3) })
    expect(server.sent[0].messages).toEqual([
      { role: 'system', content: 'Be brief.\n\nBe kind.' },
      { role: 'user', content: 'One' },
    ])
  })

  it.each<[string, string, number]>([
    ['vLLM', 'System message must be at the beginning.', 400],
    ['a template', 'Jinja Exception: System message must be first', 500],
  ])('have no other system message where the server wants it: %s', async (_name, message, status) => {
    const server = modelBefore(
      strict((body) => !namedRoles(body).slice(1).includes('system'), refused(message, null, status)),
    )
    await server.ask({ messages: talk })
    expect(server.sent.at(-1).messages[0]).toEqual({
      role: 'system',
      content: 'Be brief.\n\nBe kind.\n\nNow in rhymes.',
    })
    expect(namedRoles(server.sent.at(-1))).toEqual(['system', 'user', 'user', 'assistant', 'user'])
  })

  it('have none where the model takes none', async () => {
    const server = modelBefore(
      strict(
        (body) => !namedRoles(body).includes('system'),
        refused("Unsupported value: 'messages[0].role' does not support 'system' with this model."),
      ),
    )
    await server.ask({ messages: talk.slice(0, 3) })
    expect(server.sent.at(-1).messages).toEqual([{ role: 'user', content: 'Be brief.\n\nBe kind.\n\nOne' }])
  })

  const alternates = (body: any): boolean => {
    const roles = namedRoles(body).filter((role) => role === 'user' || role === 'assistant')
    return roles.every((role, place) => role === (place % 2 === 0 ? 'user' : 'assistant'))
  }
  const mustAlternate = refused('Conversation roles must alternate user/assistant/user/assistant/...')

  it('take turns, and begin with the user', async () => {
    const server = modelBefore(strict(alternates, mustAlternate))
    await server.ask({ messages: talk })
    expect(server.sent.at(-1).messages.filter(({ role }: any) => role !== 'system')).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'One' },
          { type: 'text', text: 'Two' },
        ],
      },
      { role: 'assistant', content: 'Yes?' },
      { role: 'user', content: 'Three' },
    ])
    await server.ask({
      messages: [
        { role: 'assistant', content: 'Welcome.' },
        { role: 'user', content: 'Hi' },
      ],
    })
    expect(namedRoles(server.sent.at(-1))).toEqual(['user', 'assistant', 'user'])
  })

  it('take turns although earlier turns called tools', async () => {
    const server = modelBefore(strict(alternates, mustAlternate))
    await server.ask({
      messages: [...withCall, { role: 'assistant', content: 'There.' }, { role: 'user', content: 'And?' }],
    })
    expect(server.sent.at(-1).messages).toEqual([
      { role: 'user', content: 'Find it' },
      { role: 'assistant', content: '(find: Found.)\n\nThere.' },
      { role: 'user', content: 'And?' },
    ])
    // The calls of this turn stay calls.
    await server.ask({ messages: withCall })
    expect(namedRoles(server.sent.at(-1))).toEqual(['user', 'assistant', 'tool'])
  })

  it.each([
    ['null', 'messages[1].content: Input should be a valid string', withCall],
    [
      'a list',
      'Failed to deserialize the JSON body into the target type: messages[0]: content: invalid type: sequence, expected a string',
      talk.slice(2, 4),
    ],
  ])('have texts as contents where the server wants no %s', async (_name, message, messages) => {
    const isText = (body: any) => body.messages.every(({ content }: any) => typeof content === 'string')
    const server = modelBefore(strict(isText, refused(message)))
    expect((await server.ask({ messages })).content).toBe('Fine.')
  })

  it('have ids of nine characters, in calls and results, where the provider wants them', async () => {
    const isShort = (id: string) => /^[a-zA-Z0-9]{9}$/.test(id)
    const server = modelBefore((body) => {
      const [asked] = body.messages.flatMap((message: any) => message.tool_calls ?? [])
      return isShort(asked.id)
        ? said
        : {
            status: 400,
            body: {
              object: 'error',
              message: `Tool call id was ${asked.id} but must be a-z, A-Z, 0-9, with a length of 9.`,
              type: 'invalid_function_call',
              code: '3280',
            },
          }
    })
    await server.ask({ messages: withCall })
    const [, asked, result] = server.sent.at(-1).messages
    expect(result.tool_call_id).toBe(asked.tool_calls[0].id)
    expect(isShort(result.tool_call_id)).toBe(true)
  })

  it('show what results of tools hold in a message of the user, or say that it cannot be seen', async () => {
    const picture = { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AAAA' } }
    const [question, asked, result] = withCall
    const messages = [question, asked, { ...result, shown: [picture] }, { role: 'user', content: 'And?' }]
    const seeing = modelBefore(() => said)
    await seeing.ask({ messages: messages as PromptMessage[] })
    const [{ messages: seen }] = seeing.sent
    expect(namedRoles({ messages: seen })).toEqual(['user', 'assistant', 'tool', 'user', 'user'])
    expect(seen[2]).toEqual(result)
    expect(seen[3].content).toEqual([{ type: 'text', text: expect.stringContaining('call_9f8e7d6c5b4a') }, picture])
    const blind = modelBefore(
      strict(
        (body) => !JSON.stringify(body).includes('image_url'),
        refused('This model does not support image input.'),
      ),
    )
    await blind.ask({ messages: messages as PromptMessage[] })
    await blind.ask({ messages: messages as PromptMessage[] })
    // It is remembered: the second question is asked once.
    expect(blind.sent).toHaveLength(3)
    expect(blind.sent[2].messages[2].content).toBe('Found.\n[The result has 1 picture or file that you cannot see.]')
    const deaf = modelBefore(
      strict((body) => !JSON.stringify(body).includes('image_url'), refused('unknown variant `input_audio`')),
    )
    await deaf.ask({ messages: messages as PromptMessage[] })
    expect(deaf.sent).toHaveLength(2)
    // A picture of the person is not left out without a word.
    const own = [{ role: 'user' as const, content: [picture] }]
    await expect(blind.ask({ messages: own })).rejects.toThrow()
  })

  it('keep the name of who answered', async () => {
    const server = modelBefore(() => said)
    const [asked, called, result] = withCall
    await server.ask({
      messages: [
        { role: 'assistant', content: 'Hello', name: 'ann' },
        ...(asked === undefined ? [] : [asked]),
        ...(called?.role === 'assistant' ? [{ ...called, name: 'bob' }] : []),
        ...(result === undefined ? [] : [result]),
      ],
    })
    expect(server.sent[0].messages.map(({ name }: any) => name)).toEqual(['ann', undefined, 'bob', undefined])
  })

  it('have names that servers take', async () => {
    const server = modelBefore(() => said)
    await server.ask({
      messages: [...withCall, { role: 'assistant', content: null, tool_calls: [call('c', 'a b.c/ü')] }],
    })
    expect(server.sent[0].messages.at(-1).tool_calls[0].function.name).toBe('a_b_c__')
  })

  it('offer tools under names that begin with a letter, and read calls of them', async () => {
    const server = modelBefore((body) => {
      const { name } = body.tools[0].function
      return /^[a-z]/.test(name)
        ? [calls({ index: 0, function: { name, arguments: '{}' } }), stop]
        : refused('Invalid function name. Must start with a letter or an underscore.')
    })
    expect((await server.ask({ tools: [tool({}, '2nd_try')] })).tool_calls?.[0]?.name).toBe('2nd_try')
  })
})

describe('what a provider must get back', () => {
  const thinks = (more: object = {}): unknown[] => [
    chunk({ reasoning_content: 'I should look.' }),
    calls({ index: 0, id: 'c1', function: { name: 'find', arguments: '{}' }, ...more }),
    stop,
  ]
  /** The question, the answer as the run stored it, and the result of its call. */
  async function turnOf(
    server: ReturnType<typeof modelBefore>,
    request: Partial<ChatRequest> = {},
  ): Promise<PromptMessage[]> {
    const { reasoning, metadata } = await server.ask(request)
    return [
      { role: 'user', content: 'Find it' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [call('c1')],
        ...(reasoning && { reasoning }),
        ...(metadata && { provider: metadata }),
      },
      { role: 'tool', content: 'Found.', tool_call_id: 'c1' },
    ]
  }

  it('comes back with the calls: thinking', async () => {
    const server = modelBefore(() => thinks())
    await server.ask({ messages: await turnOf(server) })
    expect(server.sent[1].messages[1]).toMatchObject({
      reasoning_content: 'I should look.',
      tool_calls: [{ id: 'c1' }],
    })
    expect(server.sent).toHaveLength(2)
  })

  it('comes back with the calls: signatures', async () => {
    const signed = { extra_content: { google: { thought_signature: 'c2lnbmF0dXJl' } } }
    const server = modelBefore(() => thinks(signed))
    await server.ask({ messages: await turnOf(server) })
    expect(server.sent[1].messages[1].tool_calls[0]).toMatchObject(signed)
  })

  it('comes back whole: details of thinking that arrived in pieces', async () => {
    const detail = (more: object) =>
      chunk({ reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'x', ...more }] })
    const server = modelBefore(() => [
      detail({ text: 'I should ' }),
      detail({ text: 'look.' }),
      detail({ signature: 'sig' }),
      ...thinks().slice(1),
    ])
    await server.ask({ messages: await turnOf(server) })
    expect(server.sent[1].messages[1].reasoning_details).toEqual([
      { type: 'reasoning.text', index: 0, format: 'x', text: 'I should look.', signature: 'sig' },
    ])
  })

  it('does not go to another server or family of models', async () => {
    const server = modelBefore(() => thinks({ extra_content: { google: {} } }))
    const turn = await turnOf(server)
    for (const other of [modelBefore(() => said, { baseUrl: 'https://other.example/v1' }), server]) {
      await other.ask({ messages: turn, model: 'another-model' })
      const sent = other.sent.at(-1).messages[1]
      expect(Object.keys(sent).toSorted()).toEqual(['content', 'role', 'tool_calls'])
      expect(sent.tool_calls[0]).not.toHaveProperty('extra_content')
    }
  })

  it('is made up for calls of other models where a provider refuses calls without it', async () => {
    const deepseek = modelBefore(
      strict(
        (body) => body.messages[1].reasoning_content,
        refused('The `reasoning_content` in the thinking mode must be passed back to the API.'),
      ),
    )
    await deepseek.ask({ messages: withCall })
    expect(deepseek.sent).toHaveLength(2)
    const gemini = modelBefore(
      strict((body) => body.messages[1].tool_calls[0].extra_content, {
        status: 400,
        body: [
          {
            error: {
              code: 400,
              message: 'Function call is missing a thought_signature in functionCall parts.',
              status: 'INVALID_ARGUMENT',
            },
          },
        ],
      }),
    )
    await gemini.ask({ messages: withCall })
    expect(gemini.sent[1].messages[1].tool_calls[0].extra_content.google.thought_signature).toBe(
      'skip_thought_signature_validator',
    )
  })

  it('does not come back to a server that refuses it', async () => {
    const server = modelBefore((body) =>
      body.messages.some((message: any) => 'reasoning_content' in message)
        ? refused("property 'reasoning_content' is unsupported")
        : thinks(),
    )
    await server.ask({ messages: await turnOf(server) })
    expect(server.sent.at(-1).messages[1]).not.toHaveProperty('reasoning_content')
  })
})

describe('a refusal', () => {
  it.each<[string, number, unknown, RegExp]>([
    ['in a list', 400, [{ error: { message: 'Words of Gemini' } }], /Words of Gemini/],
    ['of a web framework', 422, { detail: 'Words of FastAPI' }, /Words of FastAPI/],
    ['as a message', 400, { message: 'Words of a gateway' }, /Words of a gateway/],
    ['as a text in a member', 400, { error: 'Words of Ollama' }, /Words of Ollama/],
    [
      'of the server behind a gateway',
      400,
      { error: { message: 'Provider returned error', metadata: { raw: '{"message":"Words behind"}' } } },
      /Words behind/,
    ],
    [
      'as a page',
      400,
      '<html><head><style>b{}</style></head><body><h1>Words of nginx</h1></body></html>',
      /400 Words of nginx/,
    ],
  ])('is told in its own words: %s', async (_name, status, body, words) => {
    const server = modelBefore(() => ({ status, body }))
    await expect(server.ask()).rejects.toMatchObject({ details: expect.stringMatching(words) })
  })

  it.each([
    [400, 'prompt is too long: 210000 tokens > 200000 maximum', 'context_length_exceeded'],
    [400, 'the request exceeds the available context size, try increasing it', 'context_length_exceeded'],
    // vLLM
    [
      400,
      "'max_tokens' or 'max_completion_tokens' is too large: 16000. This model's maximum context length is 8192 tokens and your request has 100 input tokens (16000 > 8192 - 100).",
      'context_length_exceeded',
    ],
    [
      400,
      'The decoder prompt (length 9000) is longer than the maximum model length of 8192.',
      'context_length_exceeded',
    ],
    // llama.cpp, also with a status of its own failures
    [500, 'the request exceeds the available context size. try increasing the context size', 'context_length_exceeded'],
    [500, 'tools param requires --jinja flag', 'model_refused_request'],
    [500, 'Only user, assistant and tool roles are supported', 'model_refused_request'],
    [500, 'template: :3:7: executing "" at <.Messages>: nil data', 'model_refused_request'],
    // SGLang, Text Generation Inference, Ollama
    [400, 'Input length (9000 tokens) exceeds the maximum allowed length (8191 tokens).', 'context_length_exceeded'],
    [
      422,
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 3900 `inputs` tokens and 512 `max_new_tokens`',
      'context_length_exceeded',
    ],
    [422, 'Input validation error: `inputs` must have less than 4095 tokens. Given: 5000', 'context_length_exceeded'],
    [400, 'prompt too long; exceeded max context length by 12 tokens', 'context_length_exceeded'],
    // Providers
    [
      400,
      'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again',
      'context_length_exceeded',
    ],
    [400, 'Input tokens exceed the configured limit of 272000 tokens.', 'context_length_exceeded'],
    [400, 'Please reduce the length of the messages or completion.', 'context_length_exceeded'],
    [400, 'prompt token count of 130000 exceeds the limit of 128000', 'context_length_exceeded'],
    [400, 'registry.ollama.ai/library/gemma3:4b does not support tools', 'model_refused_request'],
    [400, 'API key not valid. Please pass a valid API key.', 'model_credentials_refused'],
    [400, 'Your credit balance is too low to access the API.', 'model_quota_exceeded'],
  ])('with %i %s is %s', async (status, message, type) => {
    const server = modelBefore(() => refused(message, null, status))
    const retryable = false
    await expect(server.ask({ maxTokens: 16_000 })).rejects.toMatchObject({ type, retryable })
    expect(server.sent).toHaveLength(1)
    expect(server.dialects.learnt({ baseUrl: 'http://127.0.0.1/v1', model: 'stub' })).toEqual([])
  })
})

it.each([
  'FATAL: password authentication failed for role "gateway"',
  'not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::1:role/models',
  'the template of the page could not be rendered',
])('is asked once more by a server that fails with a role or a template of its own: %s', async (message) => {
  const server = modelBefore(() => refused(message, null, 500))
  await expect(server.ask({})).rejects.toMatchObject({ type: 'model_error', statusCode: 500, retryable: true })
})

describe('tools in a request', () => {
  const sentFor = async (request: Partial<ChatRequest>, server = modelBefore(() => said)) => {
    await server.ask(request)
    return server.sent.at(-1).tools.map((one: any) => one.function)
  }

  it.each<[string, object, object]>([
    ['no properties', { type: 'object' }, { type: 'object', properties: {} }],
    ['nothing', {}, { type: 'object', properties: {} }],
    [
      'lists of anything',
      { type: 'object', properties: { a: { type: 'array' } } },
      { type: 'object', properties: { a: { type: 'array', items: {} } } },
    ],
    [
      'alternatives at the top',
      {
        anyOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          { type: 'object', properties: { b: { type: 'string' } } },
        ],
      },
      { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } },
    ],
    [
      'a reference at the top',
      { $ref: '#/$defs/Q', $defs: { Q: { type: 'object', properties: { q: { type: 'array' } }, required: ['q'] } } },
      {
        type: 'object',
        properties: { q: { type: 'array', items: {} } },
        required: ['q'],
        $defs: { Q: { type: 'object', properties: { q: { type: 'array', items: {} } }, required: ['q'] } },
      },
    ],
    [
      'parts that all hold',
      { allOf: [{ properties: { a: {} }, required: ['a'] }, { properties: { b: {} } }] },
      { type: 'object', properties: { a: {}, b: {} }, required: ['a'] },
    ],
  ])('have schemas that every server takes: %s', async (_name, parameters, expected) => {
    const [sent] = await sentFor({ tools: [tool(parameters)] })
    expect(sent.parameters).toEqual(expected)
  })

  it('have plain schemas where a server refuses others', async () => {
    const parameters = {
      type: 'object',
      properties: {
        when: { type: ['string', 'null'], format: 'date-time', default: 'now', examples: ['now'] },
        node: { $ref: '#/$defs/Node' },
        mode: { const: 'fast' },
        size: { enum: [1, 2] },
        tuple: { type: 'array', items: [{ type: 'string', pattern: 'x' }] },
        any: true,
      },
      additionalProperties: false,
      $defs: { Node: { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/Node' } } } } },
    }
    const isPlain = (body: any) =>
      !/\$ref|\$defs|additionalProperties|format|default|const/.test(JSON.stringify(body.tools))
    const server = modelBefore(strict(isPlain, refused("Invalid schema for function 'find': unknown keyword")))
    const [sent] = await sentFor({ tools: [tool(parameters)] }, server)
    expect(sent.parameters).toEqual({
      type: 'object',
      properties: {
        when: { type: 'string', nullable: true },
        node: { type: 'object', properties: { children: { type: 'array', items: { type: 'object' } } } },
        mode: { enum: ['fast'] },
        size: {},
        tuple: { type: 'array', items: { type: 'string' } },
        any: { type: 'string' },
      },
    })
  })

  it('keep the schemas of strict tools, unless the host takes only plain ones', async () => {
    const closed = { type: 'object', properties: {}, additionalProperties: false }
    const tools = [{ ...tool(closed), strict: true }]
    const server = modelBefore(() => said)
    server.dialects.remember({ baseUrl: 'http://127.0.0.1/v1', model: 'stub' }, ['plain_schemas'])
    expect((await sentFor({ tools }, server))[0].parameters).toEqual(closed)
    const google = modelBefore(() => said, { baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai' })
    expect((await sentFor({ tools }, google))[0].parameters).toEqual({ type: 'object', properties: {} })
  })

  it('are at most 128, with descriptions of at most 1,024 characters', async () => {
    const many = Array.from({ length: 130 }, (_, index) => ({
      ...tool({}, `t${index}`),
      description: '😀'.repeat(600),
    }))
    const sent = await sentFor({ tools: many })
    expect(sent).toHaveLength(128)
    expect(sent[0].description.length).toBeLessThanOrEqual(1024)
    expect(sent[0].description.isWellFormed()).toBe(true)
  })

  it('have schemas that end however deep or circular they are', async () => {
    let deep: object = { type: 'string' }
    for (let level = 0; level < 60; level++) deep = { type: 'object', properties: { inner: deep } }
    const circular = { $ref: '#', properties: { a: { $ref: '#' } } }
    const multiplied = { type: 'object', allOf: Array.from({ length: 8 }, () => ({ $ref: '#' })) }
    for (const parameters of [deep, circular, { allOf: [{ $ref: '#' }] }, multiplied])
      expect((await sentFor({ tools: [tool(parameters)] }))[0].parameters.type).toBe('object')
  })

  it('have the members of thousands of parts', () => {
    const names = Array.from({ length: 4000 }, (_, place) => `p${place}`)
    const allOf = names.map((name) => ({ properties: { [name]: {} }, required: [name] }))
    const { required, properties } = repairedSchema({ allOf })
    expect(required).toEqual(names)
    expect(Object.keys(properties ?? {})).toEqual(names)
  })

  it.each([
    ['small parts', ''],
    ['long parts', 'x'.repeat(10_000)],
  ])('have plain schemas of a bounded size, however often they share: %s', (_name, description) => {
    const level = (next: number) =>
      Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, { $ref: `#/$defs/L${next}` }]))
    const $defs = Object.fromEntries(
      Array.from({ length: 9 }, (_, place) => [
        `L${place}`,
        { type: 'object', description, properties: place === 8 ? {} : level(place + 1) },
      ]),
    )
    const plain = repairedSchema({ type: 'object', properties: level(0), $defs }, { isPlain: true })
    expect(plain['properties']).toHaveProperty('a.properties.a')
    expect(JSON.stringify(plain).length).toBeLessThan(1_500_000)
  })
})
