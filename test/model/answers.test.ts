import { describe, expect, it } from 'vitest'
import { eventsIn } from '../../infra/model/guarded-fetch.ts'
import { createThinkingTags } from '../../infra/model/text-reader.ts'
import { createAnswer } from '../../services/runs/answer.ts'
import { calls, chunk, eventsOf, modelBefore, readAnswer, stop } from './ask.ts'

const one = '{"query": "first thing"}'
const two = '{"query": "second thing"}'
const called = (name: string, args: unknown, more: object = {}) =>
  calls({ function: { name, arguments: args }, ...more })
const argsOf = ({ tool_calls: all = [] }: { tool_calls?: { args: unknown }[] | undefined }) =>
  all.map(({ args }) => args)

describe('calls of a model', () => {
  it.each<[string, unknown[], unknown[]]>([
    ['without a number', [called('find', one, { id: 'c1' })], [{ query: 'first thing' }]],
    [
      'without a number or an id',
      [called('find', one), called('find', two)],
      [{ query: 'first thing' }, { query: 'second thing' }],
    ],
    [
      'without a number, in pieces',
      [called('find', '{"query": ', { id: 'c1' }), calls({ function: { arguments: '"first thing"}' } })],
      [{ query: 'first thing' }],
    ],
    [
      'all in one chunk without numbers',
      [calls({ id: 'c1', function: { name: 'find', arguments: '{}' } }, { function: { name: 'list' } })],
      [{}, {}],
    ],
    [
      'of one number with own ids',
      [called('find', one, { index: 0, id: 'c1' }), called('find', two, { index: 0, id: 'c2' })],
      [{ query: 'first thing' }, { query: 'second thing' }],
    ],
    [
      'joined in one text',
      [called('find', one + two, { index: 0 })],
      [{ query: 'first thing' }, { query: 'second thing' }],
    ],
    ['with objects as arguments', [called('find', { query: 'first thing' }, { index: 0 })], [{ query: 'first thing' }]],
    ['with empty arguments', [called('find', '', { index: 0 })], [{}]],
    ['with null as arguments', [called('find', null, { index: 0 })], [{}]],
    ['with the text null as arguments', [called('find', 'null', { index: 0 })], [{}]],
    [
      'with the name and another id in each chunk',
      [
        called('find', '', { index: 0, id: 'a' }),
        called('find', '{"query"', { index: 0, id: 'b' }),
        called('find', ': "first thing"}', { index: 0, id: 'c' }),
      ],
      [{ query: 'first thing' }],
    ],
    [
      'in the middle of a character',
      [called('find', '{"query": "\ud83d', { index: 0 }), calls({ index: 0, function: { arguments: '\ude00"}' } })],
      [{ query: '😀' }],
    ],
    [
      'in the old form',
      [
        chunk({ function_call: { name: 'find', arguments: '' } }),
        chunk({ function_call: { arguments: one } }),
        chunk({}, 'function_call'),
      ],
      [{ query: 'first thing' }],
    ],
    [
      'in the last chunk only',
      [
        chunk({ content: null }),
        chunk({ tool_calls: [{ index: 0, function: { name: 'find', arguments: one } }] }, 'tool_calls'),
      ],
      [{ query: 'first thing' }],
    ],
    [
      'with another empty object before its arguments',
      [called('find', '{}', { index: 0, id: 'a' }), calls({ index: 0, function: { arguments: one } })],
      [{ query: 'first thing' }],
    ],
    [
      'with empty objects alone',
      [called('list', '{}', { index: 0, id: 'a' }), called('list', '{}', { index: 1, id: 'b' })],
      [{}, {}],
    ],
    [
      'once more as a whole',
      [called('find', one, { index: 0, id: 'a' }), called('find', one, { index: 0, id: 'a' })],
      [{ query: 'first thing' }],
    ],
    ['with a number as a text', [called('find', one, { index: '0' })], [{ query: 'first thing' }]],
    [
      'without a list',
      [chunk({ tool_calls: { function: { name: 'find', arguments: one } } })],
      [{ query: 'first thing' }],
    ],
    ['on one level', [calls({ id: 'a', name: 'find', arguments: one })], [{ query: 'first thing' }]],
    ['as the text of a text', [called('find', JSON.stringify(one), { index: 0 })], [{ query: 'first thing' }]],
    [
      'in a message at the end, after the text',
      [
        chunk({ content: 'I look.' }),
        {
          choices: [
            { message: { content: 'I look.', tool_calls: [{ id: 'a', function: { name: 'find', arguments: one } }] } },
          ],
        },
      ],
      [{ query: 'first thing' }],
    ],
    [
      'in a message beside an empty piece',
      [{ choices: [{ delta: {}, message: { tool_calls: [{ function: { name: 'find', arguments: one } }] } }] }],
      [{ query: 'first thing' }],
    ],
  ])('are read: %s', async (_name, chunks, expected) => {
    const answer = await readAnswer([...chunks, stop])
    expect(argsOf(answer)).toEqual(expected)
    expect(answer.unreadable).toEqual([])
    expect(new Set(answer.tool_calls?.map(({ id }) => id)).size).toBe(expected.length)
  })

  it('of one id in one answer get different ids', async () => {
    const answer = await readAnswer([
      called('find', one, { index: 0, id: 'call_0' }),
      called('find', two, { index: 1, id: 'call_0' }),
      stop,
    ])
    expect(answer.tool_calls?.map(({ id }) => id)).toEqual(['call_0', 'call_run-0_1'])
  })

  it('keep the digits of large numbers when the arguments are objects', async () => {
    const event = `{"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "find", "arguments": {"id": 9007199254740993, "price": 1.10}}}]}}]}`
    const { deltas } = await readAnswer(`data: ${event}\n\ndata: [DONE]\n\n`)
    expect(deltas).toEqual([{ type: 'call', index: 0, name: 'find', args: '{"id":9007199254740993,"price":1.10}' }])
  })

  it('keep objects with a member of that name among their arguments', async () => {
    const args = { arguments: { a: 1 }, list: [{ arguments: [2] }] }
    for (const answer of [
      [called('find', args, { index: 0 }), stop],
      [chunk({ function_call: { name: 'find', arguments: args } }), stop],
      JSON.stringify({
        choices: [
          { message: { tool_calls: [{ function: { name: 'find', arguments: args } }] }, finish_reason: 'stop' },
        ],
      }),
    ])
      expect(argsOf(await readAnswer(answer))).toEqual([args])
  })

  it('have the name that was offered where it comes in pieces', async () => {
    const named = modelBefore(() => [
      called('fi', '', { index: 0 }),
      called('nd', '', { index: 0 }),
      called('', one, { index: 0 }),
      stop,
    ])
    const { tool_calls: [call] = [] } = await named.ask({ tools: [{ name: 'find', description: '', parameters: {} }] })
    expect(call).toMatchObject({ name: 'find', args: { query: 'first thing' } })
  })

  it('are at most 128 in one answer', async () => {
    const many = Array.from({ length: 129 }, (_, index) => called('find', one, { id: `c${index}` }))
    await expect(readAnswer([...many, stop])).rejects.toMatchObject({ type: 'model_invalid_answer', statusCode: 502 })
  })
})

describe('text of a model', () => {
  it.each<[string, unknown[] | string, string]>([
    [
      'in parts',
      [chunk({ content: [{ type: 'text', text: 'The answer ' }, 'is'] }), chunk({ content: ' 42.' }), stop],
      'The answer is 42.',
    ],
    ['with an end without a reason', [chunk({ content: 'Whole.' })], 'Whole.'],
    [
      'with empty reasons before the end',
      [chunk({ content: 'Wh' }, ''), chunk({ content: 'ole.' }, ''), chunk({}, 'eos')],
      'Whole.',
    ],
    [
      'with null in place of members',
      [chunk({ content: 'Whole.', tool_calls: null, refusal: null }, null, { usage: null }), chunk(null, 'end_turn')],
      'Whole.',
    ],
    [
      'with chunks without choices',
      [{ id: 'x' }, { choices: [] }, chunk({ content: 'Whole.' }), stop, { choices: null }],
      'Whole.',
    ],
    [
      'as one JSON text',
      JSON.stringify(
        { choices: [{ message: { role: 'assistant', content: 'Whole.' }, finish_reason: 'stop' }] },
        null,
        2,
      ),
      'Whole.',
    ],
    [
      'with carriage returns, comments, names of events and a byte-order mark',
      `\ufeff${eventsOf([chunk({ content: 'Whole.' }), stop])
        .replaceAll('data:', ': comment\r\nevent: message\r\nid: 7\r\ndata:')
        .replaceAll('\n\n', '\r\n\r\n')}`,
      'Whole.',
    ],
    ['without an empty line at the end', `data: ${JSON.stringify(chunk({ content: 'Whole.' }, 'stop'))}`, 'Whole.'],
    [
      'with its last chunk as a message',
      [chunk({ content: 'Whole.' }), { choices: [{ message: { content: 'Whole.' }, finish_reason: 'stop' }] }],
      'Whole.',
    ],
    [
      'with one line end between events',
      eventsOf([chunk({ content: 'Whole.' }), stop]).replaceAll('\n\n', '\n'),
      'Whole.',
    ],
    [
      'with an empty event and spaces about the end',
      `data:\n\n${eventsOf([chunk({ content: 'Whole.' })]).replace('[DONE]', ' [DONE] ')}`,
      'Whole.',
    ],
    [
      'as one JSON text a line',
      [chunk({ content: 'Who' }), chunk({ content: 'le.' }, 'stop')].map((one) => JSON.stringify(one)).join('\n'),
      'Whole.',
    ],
    ['as a list of chunks', JSON.stringify([chunk({ content: 'Who' }), chunk({ content: 'le.' }, 'stop')]), 'Whole.'],
    [
      'of the older interface',
      [{ choices: [{ text: 'Whole.' }] }, { choices: [{ text: '', finish_reason: 'stop' }] }],
      'Whole.',
    ],
    [
      'in an object',
      [chunk({ content: { type: 'text', text: { value: 'Whole.', annotations: [] } } }), stop],
      'Whole.',
    ],
    [
      'beside other answers',
      [
        {
          choices: [
            { index: 0, delta: { content: 'Whole.' } },
            { index: 1, delta: { content: 'No' } },
          ],
        },
        { choices: [{ index: 1, delta: { content: 'No' } }] },
        stop,
      ],
      'Whole.',
    ],
    [
      'with NaN among its numbers',
      `data: {"choices": [{"delta": {"content": "Whole."}, "score": NaN, "finish_reason": "stop"}], "usage": {"prompt_tokens": -Infinity}}`,
      'Whole.',
    ],
    [
      'that names NaN',
      `data: {"x": NaN, "choices": [{"delta": {"content": "NaN or \\"NaN\\"."}, "finish_reason": "stop"}]}`,
      'NaN or "NaN".',
    ],
  ])('is read: %s', async (_name, answer, expected) => {
    expect((await readAnswer(answer)).content).toBe(expected)
  })

  it('takes no time with a text without an end beside NaN', () => {
    const begun = performance.now()
    eventsIn(`{"score": NaN, "text": "${'\\"'.repeat(500_000)}`)
    eventsIn(`{"score": NaN, "text": "${'\\"'.repeat(500_000)}\\`)
    expect(performance.now() - begun).toBeLessThan(5000)
  })

  it('that breaks off without an end is interrupted', async () => {
    await expect(readAnswer(`data: ${JSON.stringify(chunk({ content: 'Half' }))}\n\n`)).rejects.toMatchObject({
      type: 'model_connection_error',
      retryable: true,
    })
  })

  it.each([
    ['length', 'length'],
    ['max_tokens', 'length'],
    ['MAX_TOKENS', 'length'],
    ['content_filter', 'content_filter'],
    ['SAFETY', 'content_filter'],
  ])('that ends with %s was cut', async (reason, cut) => {
    expect((await readAnswer([chunk({ content: 'Half' }, reason)])).cut).toBe(cut)
  })

  it('is followed by the pages that the server names beside it', async () => {
    const cited = {
      citations: ['https://a.example/x', 'javascript:alert(1)'],
      search_results: [{ title: 'B ]page[', url: 'https://b.example/' }],
    }
    const { content } = await readAnswer([chunk({ content: 'Sunny [1][2].' }, 'stop', cited)])
    expect(content).toBe(
      'Sunny [1][2].\n\n1. [https://a.example/x](<https://a.example/x>)\n2. [B page](<https://b.example/>)',
    )
    const annotations = [{ type: 'url_citation', url_citation: { url: 'https://c.example/', title: 'C' } }]
    expect((await readAnswer([chunk({ content: 'C says so.', annotations }), stop])).content).toMatch(/1\. \[C\]/)
  })

  it.each<[string, object]>([
    [
      'of a message at the end',
      {
        choices: [
          {
            message: { content: 'Sunny.', annotations: [{ url_citation: { url: 'https://c.example/', title: 'C' } }] },
            finish_reason: 'stop',
          },
        ],
      },
    ],
    ['of a piece', chunk({ citations: [{ url: 'https://c.example/', title: 'C' }] }, 'stop')],
    [
      'of a choice',
      { choices: [{ delta: {}, finish_reason: 'stop', citations: [{ uri: 'https://c.example/', title: 'C' }] }] },
    ],
    [
      'of its context',
      chunk({ context: { citations: [{ url: 'https://c.example/', title: 'C', content: 'x' }] } }, 'stop'),
    ],
    ['under other names', chunk({}, 'stop', { web_search: [{ link: 'https://c.example/', title: 'C' }] })],
    [
      'within them',
      chunk({}, 'stop', { search_info: { search_results: [{ url: 'https://c.example/', title: 'C' }] } }),
    ],
  ])('is followed by pages: %s', async (_name, last) => {
    expect((await readAnswer([chunk({ content: 'Sunny.' }), last])).content).toBe(
      'Sunny.\n\n1. [C](<https://c.example/>)',
    )
  })

  it.each<[string, unknown, { status: number; type: string }]>([
    [
      'with the status as its code',
      { error: { message: 'Slow down', code: 429 } },
      { status: 429, type: 'model_busy' },
    ],
    [
      'without a status',
      { error: { message: 'Overloaded', type: 'server_error' } },
      { status: 502, type: 'model_error' },
    ],
    ['as a text', { error: 'it broke' }, { status: 502, type: 'model_error' }],
    ['in a choice', { choices: [{ error: { code: 502, message: 'it broke' } }] }, { status: 502, type: 'model_error' }],
    [
      'with a name',
      { error: { message: 'Slow down', code: 'rate_limit_exceeded' } },
      { status: 429, type: 'model_busy' },
    ],
    ['in a list', [{ error: { message: 'Slow down', code: 429 } }], { status: 429, type: 'model_busy' }],
    ['as the reason of its end', chunk({}, 'error'), { status: 502, type: 'model_error' }],
    [
      'as an object of its own',
      {
        object: 'error',
        message: "This model's maximum context length is 8 tokens.",
        type: 'BadRequestError',
        code: 400,
      },
      { status: 400, type: 'context_length_exceeded' },
    ],
  ])('ends with an error in the stream: %s', async (_name, error, { status, type }) => {
    await expect(readAnswer([chunk({ content: 'Half' }), error])).rejects.toMatchObject({ statusCode: status, type })
  })

  it.each<[string, unknown, { status: number; type: string }, RegExp]>([
    [
      'as the interface has it',
      { error: { message: 'Slow down', code: 429 } },
      { status: 429, type: 'model_busy' },
      /Slow/,
    ],
    ['as a text', { error: 'it broke' }, { status: 502, type: 'model_error' }, /it broke/],
    ['as a detail', { detail: 'Not now' }, { status: 502, type: 'model_error' }, /Not now/],
    [
      'in a list',
      { success: false, errors: [{ code: 7003, message: 'No route' }] },
      { status: 502, type: 'model_error' },
      /No route/,
    ],
    ['under another name', { code: 1113, msg: 'In arrears' }, { status: 502, type: 'model_error' }, /In arrears/],
    [
      'beside no choices',
      { choices: null, base_resp: { status_code: 1004, status_msg: 'No login' } },
      { status: 502, type: 'model_error' },
      /No login/,
    ],
  ])('is not there where status 200 comes with an error: %s', async (_name, error, { status, type }, words) => {
    for (const answer of [JSON.stringify(error), [error]])
      await expect(readAnswer(answer)).rejects.toMatchObject({
        statusCode: status,
        type,
        details: expect.stringMatching(words),
      })
  })

  it('is not a page, and not something else', async () => {
    for (const [answer, problem] of [
      ['<!doctype html><p>Sign in', /it is a page/],
      ['{"result": "Hi"}', /choices is missing/],
    ] as const)
      await expect(readAnswer(answer)).rejects.toMatchObject({
        type: 'model_invalid_answer',
        message: expect.stringMatching(problem),
      })
  })

  it('has the probabilities that a server names, in its forms', async () => {
    const withLogprobs = (logprobs: unknown) =>
      readAnswer([{ choices: [{ delta: { content: 'Hi' }, logprobs, finish_reason: 'stop' }] }])
    const { deltas } = await withLogprobs({ content: [{ token: 'Hi', logprob: null, bytes: 'Hi' }] })
    expect(deltas.find(({ type }) => type === 'logprobs')).toEqual({
      type: 'logprobs',
      tokens: [{ token: 'Hi', logprob: -9999, bytes: null, top_logprobs: [] }],
    })
    expect((await withLogprobs([])).content).toBe('Hi')
  })
})

describe('tokens that a server counts', () => {
  const usageOf = async (...usages: object[]) =>
    (await readAnswer([chunk({ content: 'Hi' }), stop, ...usages.map((usage) => ({ choices: [], usage }))])).usage

  it.each<[string, object[], object | undefined]>([
    [
      'as fractions',
      [{ prompt_tokens: 3.2, completion_tokens: 2.5 }],
      { prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 },
    ],
    ['as a negative number', [{ prompt_tokens: -1, completion_tokens: 2 }], undefined],
    ['by half', [{ prompt_tokens: 3 }], undefined],
    [
      'under other names',
      [{ input_tokens: 3, output_tokens: 2 }],
      { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    ],
    [
      'and none at last',
      [
        { prompt_tokens: 3, completion_tokens: 2 },
        { prompt_tokens: 0, completion_tokens: 0 },
      ],
      { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    ],
    [
      'in each chunk',
      [
        { prompt_tokens: 3, completion_tokens: 1 },
        { prompt_tokens: 3, completion_tokens: 2 },
      ],
      { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    ],
    [
      'with those of thinking only in the sum',
      [
        {
          prompt_tokens: 3,
          completion_tokens: 2,
          total_tokens: 15,
          completion_tokens_details: { reasoning_tokens: 10 },
        },
      ],
      { prompt_tokens: 3, completion_tokens: 12, total_tokens: 15, reasoning_tokens: 10 },
    ],
    [
      'with those of a cache',
      [{ prompt_tokens: 30, completion_tokens: 2, prompt_cache_hit_tokens: 20 }],
      { prompt_tokens: 30, completion_tokens: 2, total_tokens: 32, cached_tokens: 20 },
    ],
  ])('are read: %s', async (_name, usages, expected) => {
    expect(await usageOf(...usages)).toEqual(expected)
  })

  it('are read beside a choice, and of a gateway', async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2 }
    for (const last of [
      { choices: [{ delta: {}, finish_reason: 'stop', usage }] },
      chunk({}, 'stop', { x_groq: { usage } }),
    ])
      expect((await readAnswer([chunk({ content: 'Hi' }), last])).usage?.total_tokens).toBe(5)
  })
})

describe('thinking of a model', () => {
  const thought = { content: 'Hello.', reasoning: 'The user greets me.' }

  it.each<[string, unknown[]]>([
    [
      'in reasoning_content',
      [
        chunk({ content: null, reasoning_content: 'The user ' }),
        chunk({ reasoning_content: 'greets me.' }),
        chunk({ content: 'Hello.' }),
        stop,
      ],
    ],
    [
      'in reasoning and its details',
      [
        chunk({
          reasoning: 'The user greets me.',
          reasoning_details: [{ type: 'reasoning.text', text: 'The user greets me.' }],
        }),
        chunk({ content: 'Hello.' }),
        stop,
      ],
    ],
    [
      'in details only',
      [
        chunk({ reasoning_details: [{ type: 'reasoning.summary', summary: 'The user greets me.' }] }),
        chunk({ content: 'Hello.' }),
        stop,
      ],
    ],
    ['in an object', [chunk({ reasoning: { content: 'The user greets me.' } }), chunk({ content: 'Hello.' }), stop]],
    ['under another name', [chunk({ reasoning_text: 'The user greets me.' }), chunk({ content: 'Hello.' }), stop]],
    [
      'in parts',
      [
        chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'The user greets me.' }] }] }),
        chunk({ content: [{ type: 'text', text: 'Hello.' }] }),
        stop,
      ],
    ],
    [
      'between tags',
      [chunk({ content: '<think>\nThe user greets me.' }), chunk({ content: '\n</think>\n\nHello.' }), stop],
    ],
    [
      'between tags that name it otherwise',
      [chunk({ content: ' <thinking>The user greets me.</thinking>Hello.' }), stop],
    ],
    [
      'between tags, character by character',
      [...'\n<think>The user greets me.\n\n</think>\nHello.'.split('').map((content) => chunk({ content })), stop],
    ],
    [
      'before an end without a beginning',
      [
        chunk({ content: 'The user ' }),
        chunk({ content: 'greets me.\n</thi' }),
        chunk({ content: 'nk>\n\nHel' }),
        chunk({ content: 'lo.' }),
        stop,
      ],
    ],
  ])('is told apart: %s', async (_name, chunks) => {
    expect(await readAnswer(chunks)).toMatchObject(thought)
  })

  it.each([
    ['Gemini', '<thought>The user greets me.</thought>Hello.'],
    ['Magistral', '[THINK]The user greets me.[/THINK]Hello.'],
    ['Seed', '<seed:think>The user greets me.</seed:think>Hello.'],
    ['Kimi', '◁think▷The user greets me.◁/think▷Hello.'],
    ['Command A', '<|START_THINKING|>The user greets me.<|END_THINKING|><|START_RESPONSE|>Hello.<|END_RESPONSE|>'],
    [
      'OpenThinker',
      '<|begin_of_thought|>\n\nThe user greets me.\n<|end_of_thought|>\n\n<|begin_of_solution|>\nHello.<|end_of_solution|>',
    ],
    [
      'gpt-oss',
      '<|channel|>analysis<|message|>The user greets me.<|end|><|start|>assistant<|channel|>final<|message|>Hello.<|return|>',
    ],
    ['one that thinks twice', '<think>The user</think>\n<think>greets me.</think>\n\nHello.', 'The user\n\ngreets me.'],
  ])('is told apart in the tags of %s', async (_name, text, reasoning = thought.reasoning) => {
    const whole = await readAnswer([chunk({ content: text }), stop])
    expect([whole.reasoning, whole.content]).toEqual([reasoning, 'Hello.'])
    const split = await readAnswer([...text.split('').map((content) => chunk({ content })), stop])
    expect([split.reasoning, split.content]).toEqual([reasoning, 'Hello.'])
  })

  it.each([
    'A tag such as <think> is not thinking.',
    'Write `</think>` at the end.',
    '<thing>is not a tag of thinking</thing>',
    '<thin',
    'if (a < b) { return }',
    '<think> is the tag with which DeepSeek begins.',
    '<thoughts>is no tag of thinking</thoughts>',
    'It ends with this line:\n</think>\n',
    '<|channel|> begins a message of gpt-oss.',
    '[THINKING] is a mood',
    '<|',
  ])('is not found in %s', async (text) => {
    const answer = await readAnswer([...text.split('').map((content) => chunk({ content })), stop])
    expect(answer.content).toBe(text)
    expect(answer.reasoning).toBeUndefined()
  })

  it('is expected at the beginning once its template was seen to open it', async () => {
    const template = modelBefore(() => [
      chunk({ content: 'The user greets me.' }),
      chunk({ content: '\n</think>\n\nHello.' }),
      stop,
    ])
    await template.ask()
    const again = await template.ask()
    expect(again).toMatchObject(thought)
    expect(again.deltas.some(({ type }) => type === 'restart')).toBe(false)
    const plain = modelBefore(() => [chunk({ content: 'No thinking at all.' }), stop])
    const served = { baseUrl: 'http://127.0.0.1/v1', model: 'stub' }
    plain.dialects.remember(served, ['open_thinking'])
    const answer = await plain.ask()
    expect([answer.content, answer.reasoning]).toEqual(['No thinking at all.', undefined])
    expect(plain.dialects.learnt(served)).toEqual([])
  })

  it('is not what a user learnt of an account of his own', async () => {
    const own = modelBefore(() => [chunk({ content: 'Hm.\n</think>\n\nHello.' }), stop])
    const account = { apiKey: 'mine', baseUrl: 'http://127.0.0.1/v1', setByUser: true }
    const restarts = ({ deltas }: Awaited<ReturnType<typeof own.ask>>) =>
      deltas.filter(({ type }) => type === 'restart').length
    expect(restarts(await own.ask({ account }))).toBe(1)
    expect(restarts(await own.ask({ account }))).toBe(0)
    expect(restarts(await own.ask({ account: { ...account, apiKey: 'another' } }))).toBe(1)
    expect(restarts(await own.ask())).toBe(1)
  })

  it('stays thinking without its end when the answer is cut or calls a tool', async () => {
    const begun = chunk({ content: '<think>I should look' })
    const reasoning = 'I should look'
    expect(await readAnswer([begun, chunk({}, 'length')])).toMatchObject({ reasoning, content: '' })
    expect(await readAnswer([begun, called('find', one, { index: 0 }), stop])).toMatchObject({ reasoning, content: '' })
    const ended = chunk({ content: 'I should look\n</think>\n' })
    expect(await readAnswer([ended, called('find', one, { index: 0 }), stop])).toMatchObject({ reasoning, content: '' })
  })

  it.each<[string, string, string]>([
    ['white space within it', `<think>a${' \n'.repeat(50_000)}`, 'b</think>Hello.'],
    ['white space before it', ' '.repeat(100_000), 'Hello.'],
    ['ends in its lines', `A${' </think>'.repeat(10_000)}`, '\n</think>\nHello.'],
  ])('is read in steps in proportion to its length: %s', async (_name, long, last) => {
    const tags = createThinkingTags()
    let looked = 0
    let largest = 0
    for (const piece of [...(long.match(/.{1,10}/gs) ?? []), last]) {
      for (const { text } of tags.add(piece)) largest = Math.max(largest, text.length)
      if (tags.restart() !== undefined) looked += 1
    }
    expect(looked).toBe(0)
    // What is held back is bounded: a text that follows it does not come with all of it.
    expect(largest).toBeLessThanOrEqual(1100)
  })

  it('says how long it took, from its first piece to its last', () => {
    let now = 1_000_000
    const answer = createAnswer('run-0', () => now)
    const seconds = () => answer.message().data.reasoning_seconds
    answer.add({ type: 'reasoning', text: 'One' })
    now += 400
    answer.add({ type: 'reasoning', text: ' two' })
    expect(seconds()).toBeUndefined()
    now += 11_400
    answer.add({ type: 'reasoning', text: ' three' })
    now += 30_000
    answer.add({ type: 'text', text: 'Hello.' })
    expect(seconds()).toBe(12)
  })

  it('arrives while the model thinks', async () => {
    const { deltas } = await readAnswer(
      '<think>One two three four five six</think>Hi'
        .split('')
        .map((content) => chunk({ content }))
        .concat(stop),
    )
    const first = deltas.findIndex(({ type }) => type === 'reasoning')
    expect(deltas.slice(first, first + 10).map(({ type }) => type)).not.toContain('text')
    expect(deltas.filter(({ type }) => type === 'reasoning').length).toBeGreaterThan(10)
  })
})
