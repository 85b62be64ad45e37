import { crc32 } from 'node:zlib'
import type { NativeKind } from '../../domain/model-providers.ts'

/**
 * The same answer as each provider documents its stream: a thought with what must come back, a sentence, and a call
 * whose argument is a whole number beyond 2^53.
 */
export const thought = 'The user asks for the weather.'
export const said = 'I look it up.'
export const exactArgs = '{"city":"Paris","station":9007199254740993}'
export const usage = { prompt: 40, cached: 10, completion: 30, reasoning: 12 }

const [argsBegin, argsEnd] = [exactArgs.slice(0, 14), exactArgs.slice(14)]
const event = (data: object) =>
  `event: ${'type' in data ? String(data.type) : 'message'}\ndata: ${JSON.stringify(data)}\n\n`
const events = (list: object[]) => list.map(event).join('')
const chunks = (list: object[]) => `${list.map((data) => `data: ${JSON.stringify(data)}\n\n`).join('')}data: [DONE]\n\n`

export const answers: Record<NativeKind, () => string | Uint8Array> = {
  anthropic: () =>
    events([
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'claude-sonnet-4-5',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 25, cache_read_input_tokens: 10, cache_creation_input_tokens: 5, output_tokens: 1 },
        },
      },
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: thought } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2lnbmF0dXJl' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: said } },
      { type: 'content_block_stop', index: 1 },
      {
        type: 'content_block_start',
        index: 2,
        content_block: { type: 'tool_use', id: 'toolu_01A', name: 'weather', input: {} },
      },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: argsBegin } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: argsEnd } },
      { type: 'content_block_stop', index: 2 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 30 } },
      { type: 'message_stop' },
    ]),
  google: () => {
    const candidate = (parts: object[], more: object = {}) => ({
      candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
      modelVersion: 'gemini-3-pro',
    })
    const usageMetadata = {
      promptTokenCount: 40,
      cachedContentTokenCount: 10,
      candidatesTokenCount: 18,
      thoughtsTokenCount: 12,
      totalTokenCount: 70,
    }
    const call = candidate([{ functionCall: { name: 'weather', args: 0 }, thoughtSignature: 'c2lnbmF0dXJl' }])
    const texts = [
      candidate([{ text: thought, thought: true }]),
      candidate([{ text: said }]),
      call,
      { ...candidate([], { finishReason: 'STOP' }), usageMetadata },
    ].map((data) => `data: ${JSON.stringify(data)}\r\n\r\n`)
    // JSON.stringify would round the number.
    return texts.join('').replace('"args":0', `"args":${exactArgs}`)
  },
  'openai-responses': () => responses({ withSummary: true }),
  azure: () => responses({ withSummary: true }),
  xai: () => responses({ withSummary: true }),
  mistral: () => {
    const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
      id: 'cmpl',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'magistral-medium',
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...more,
    })
    return chunks([
      chunk({ role: 'assistant', content: [{ type: 'thinking', thinking: [{ type: 'text', text: thought }] }] }),
      chunk({ content: [{ type: 'text', text: said }] }),
      chunk(
        { tool_calls: [{ id: 'D681PevKs', function: { name: 'weather', arguments: exactArgs }, index: 0 }] },
        'tool_calls',
        { usage: { prompt_tokens: 40, completion_tokens: 30, total_tokens: 70 } },
      ),
    ])
  },
  deepseek: () => {
    const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
      id: 'ds',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'deepseek-reasoner',
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...more,
    })
    const call = (args: string, more: object = {}) => ({
      tool_calls: [{ index: 0, ...more, function: { arguments: args, ...('id' in more ? { name: 'weather' } : {}) } }],
    })
    return chunks([
      chunk({ role: 'assistant', content: null, reasoning_content: thought }),
      chunk({ content: said, reasoning_content: null }),
      chunk(call(argsBegin, { id: 'call_00_a', type: 'function' })),
      chunk(call(argsEnd)),
      chunk({}, 'tool_calls', {
        usage: {
          prompt_tokens: 40,
          completion_tokens: 30,
          total_tokens: 70,
          prompt_cache_hit_tokens: 10,
          prompt_cache_miss_tokens: 30,
          completion_tokens_details: { reasoning_tokens: 12 },
        },
      }),
    ])
  },
  bedrock: () =>
    Buffer.concat([
      frame('messageStart', { role: 'assistant' }),
      frame('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: thought } } }),
      frame('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { signature: 'c2lnbmF0dXJl' } } }),
      frame('contentBlockStop', { contentBlockIndex: 0 }),
      frame('contentBlockDelta', { contentBlockIndex: 1, delta: { text: said } }),
      frame('contentBlockStop', { contentBlockIndex: 1 }),
      frame('contentBlockStart', {
        contentBlockIndex: 2,
        start: { toolUse: { toolUseId: 'tooluse_1', name: 'weather' } },
      }),
      frame('contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: argsBegin } } }),
      frame('contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: argsEnd } } }),
      frame('contentBlockStop', { contentBlockIndex: 2 }),
      frame('messageStop', { stopReason: 'tool_use' }),
      frame('metadata', {
        usage: {
          inputTokens: 30,
          outputTokens: 30,
          totalTokens: 70,
          cacheReadInputTokens: 10,
          cacheWriteInputTokens: 0,
        },
        metrics: { latencyMs: 10 },
      }),
    ]),
}

/** An answer of Anthropic's that is only text. */
export function saidBy(text: string): string {
  const [start = '', ...others] = answers.anthropic().toString().split('\n\n')
  const end = others.slice(-3).map((one) => one.replace('tool_use', 'end_turn'))
  return [
    start,
    ...[
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      { type: 'content_block_stop', index: 0 },
    ].map((one) => event(one).trimEnd()),
    ...end,
  ].join('\n\n')
}

function responses({ withSummary }: { withSummary: boolean }): string {
  const base = { id: 'resp_1', object: 'response', created_at: 1, model: 'gpt-5', output: [] }
  const reasoning = { id: 'rs_1', type: 'reasoning', encrypted_content: 'ZW5jcnlwdGVk' }
  const summary = withSummary ? [{ type: 'summary_text', text: thought }] : []
  const call = { id: 'fc_1', type: 'function_call', call_id: 'call_a', name: 'weather' }
  const text = { id: 'msg_1', type: 'message', role: 'assistant' }
  const part = { type: 'output_text', text: said, annotations: [] }
  const usages = {
    input_tokens: 40,
    input_tokens_details: { cached_tokens: 10 },
    output_tokens: 30,
    output_tokens_details: { reasoning_tokens: 12 },
    total_tokens: 70,
  }
  const at = (item: number) => ({ output_index: item, sequence_number: item })
  return events([
    { type: 'response.created', sequence_number: 0, response: { ...base, status: 'in_progress' } },
    {
      type: 'response.output_item.added',
      ...at(0),
      item: { ...reasoning, status: 'in_progress', encrypted_content: '', summary: [] },
    },
    {
      type: 'response.reasoning_summary_part.added',
      ...at(0),
      item_id: 'rs_1',
      summary_index: 0,
      part: { type: 'summary_text', text: '' },
    },
    { type: 'response.reasoning_summary_text.delta', ...at(0), item_id: 'rs_1', summary_index: 0, delta: thought },
    { type: 'response.reasoning_summary_part.done', ...at(0), item_id: 'rs_1', summary_index: 0, part: summary[0] },
    { type: 'response.output_item.done', ...at(0), item: { ...reasoning, status: 'completed', summary } },
    { type: 'response.output_item.added', ...at(1), item: { ...text, status: 'in_progress', content: [] } },
    { type: 'response.output_text.delta', ...at(1), item_id: 'msg_1', content_index: 0, delta: said, logprobs: [] },
    { type: 'response.output_item.done', ...at(1), item: { ...text, status: 'completed', content: [part] } },
    { type: 'response.output_item.added', ...at(2), item: { ...call, arguments: '', status: 'in_progress' } },
    { type: 'response.function_call_arguments.delta', ...at(2), item_id: 'fc_1', delta: argsBegin },
    { type: 'response.function_call_arguments.delta', ...at(2), item_id: 'fc_1', delta: argsEnd },
    { type: 'response.function_call_arguments.done', ...at(2), item_id: 'fc_1', name: 'weather', arguments: exactArgs },
    { type: 'response.output_item.done', ...at(2), item: { ...call, arguments: exactArgs, status: 'completed' } },
    {
      type: 'response.completed',
      sequence_number: 9,
      response: { ...base, status: 'completed', incomplete_details: null, usage: usages },
    },
  ])
}

/** A frame of `application/vnd.amazon.eventstream`. */
export function frame(type: string, payload: object | string): Buffer {
  const headers = Buffer.concat(
    [
      [':event-type', type],
      [':content-type', 'application/json'],
      [':message-type', 'event'],
    ].map(([name = '', value = '']) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(value.length)
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ])
    }),
  )
  const body = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload))
  const prelude = Buffer.alloc(8)
  prelude.writeUInt32BE(12 + headers.length + body.length + 4, 0)
  prelude.writeUInt32BE(headers.length, 4)
  const begin = Buffer.concat([prelude, uint32(crc32(prelude)), headers, body])
  return Buffer.concat([begin, uint32(crc32(begin))])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
