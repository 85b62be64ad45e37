import { describe, expect, it } from 'vitest'
import { applyEntries, emptyView, toMessage } from '../../domain/run-events.ts'
import { useModelService } from '../support/model-service.ts'
import type { ChatRequest } from '../support/scripted-model.ts'
import { conversation } from './support.ts'

const frame = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const chunk = (delta: unknown) => frame({ choices: [{ index: 0, delta, finish_reason: null }] })
const call = (piece: unknown) => chunk({ tool_calls: [piece] })
const never = new Promise<never>(() => {})
const bigText = 'x'.repeat(300_000)

describe('an untrusted model server', () => {
  const service = useModelService()

  it.each<[string, string[], RegExp]>([
    [
      'a call number that is a name',
      [call({ index: '__proto__', function: { name: 'x' } })],
      /index must be an integer/,
    ],
    [
      'an enormous call number',
      [call({ index: 1e9, function: { name: 'x' } })],
      /index must be an integer from 0 to 127/,
    ],
    ['a negative call number', [call({ index: -1, function: { name: 'x' } })], /index must be an integer/],
    ['a tool name of 200 KB', [call({ index: 0, function: { name: 'n'.repeat(200_000) } })], /name must not be longer/],
    ['an id of 200 KB', [call({ index: 0, id: 'i'.repeat(200_000) })], /id must not be longer/],
    ['arguments that are a number', [call({ index: 0, function: { arguments: 7 } })], /arguments must be a string/],
    ['content that is a number', [chunk({ content: 7 })], /content must be a string/],
    ['choices that are an object', [frame({ choices: {} })], /choices must be an array/],
    ['a delta that is a text', [chunk('a')], /delta must be an object/],
    ['a chunk that is null', [frame(null)], /a chunk must be an object/],
    ['tokens that are no number', [frame({ usage: { prompt_tokens: '1' } })], /prompt_tokens must be an integer/],
    ['a thousand calls in one chunk', [chunk({ tool_calls: Array.from({ length: 1000 }, () => ({})) })], /128 entries/],
  ])('ends the run with an error that names the member: %s', async (_name, raw, message) => {
    const talk = await conversation(service)
    service.model.reply({ raw: [chunk({ content: 'Said before.' }), ...raw] })
    const run = await talk.stream('Go')
    expect(run.error).toMatchObject({ status_code: 502, type: 'model_invalid_answer' })
    expect(run.error.message).toMatch(message)
    expect(Object.keys(Array.prototype)).toEqual([])
    expect((await talk.messages()).map(({ data }) => data.content)).toEqual(['Go', 'Said before.'])

    service.model.reply({ text: 'Better.' })
    expect((await talk.stream('Again')).end).toBe('end')
  })

  it.each<[string, string[]]>([
    ['text', Array.from({ length: 8 }, () => chunk({ content: bigText }))],
    [
      'arguments of one call',
      Array.from({ length: 4 }, () => call({ index: 0, function: { name: 'a', arguments: bigText } })),
    ],
    ['calls', Array.from({ length: 8 }, (_, index) => call({ index, function: { name: 'a', arguments: bigText } }))],
    ['bytes in one event', ['data: ', ...Array.from({ length: 15 }, () => bigText)]],
  ])('ends the run with an error for too many: %s', async (_name, raw) => {
    const talk = await conversation(service)
    service.model.reply({ raw: [...raw, never] })
    const run = await talk.stream('Go')
    expect(run.error).toMatchObject({ status_code: 502, type: 'model_answer_too_long' })
  })

  it('cannot cause a call with truncated arguments', async () => {
    const talk = await conversation(service, {
      'type==agent/tools': [{ type: 'http_request' }],
      'type==agent/interrupt_before_action': true,
    })
    const cutOff = '{"method": "POST", "url": "http://127.0.0.1:1/", "body": "half'
    service.model.reply({ toolCalls: [{ id: 'c1', name: 'http_request', arguments: cutOff }], finishReason: 'length' })
    service.model.reply({ text: 'I see.' })
    const run = await talk.stream('Post')
    const [asked, result, answer] = run.messages
    expect(asked.data.tool_calls[0].args).toEqual({ method: 'POST', url: 'http://127.0.0.1:1/', body: 'half' })
    expect(result.data.content).toMatch(/not made: its arguments are not a JSON object/)
    expect(answer.data.content).toBe('I see.')
  })
})

const isAsked = (question: string, { body }: ChatRequest) => body.messages.at(-1)?.content === question

describe('a model server that falls silent', () => {
  // On a busy machine any answer may seem silent, and is asked for again.
  const service = useModelService({
    env: { MODEL_SILENCE_SECONDS: '1' },
    respond: (request) => ({ text: isAsked('Count', request) ? ['One ', 'two'] : 'Whole answer' }),
  })

  it('is called again when it is silent', async () => {
    const talk = await conversation(service)
    service.model.reply({ after: never, text: 'never' })
    service.model.reply({ text: ['Half ', never] })
    const run = await talk.stream('Go')
    expect(run.end).toBe('end')
    expect(run.messages.map(({ data }) => data.content)).toEqual(['Whole answer'])
  })

  it('does not block runs of others', async () => {
    const [hostile, bystander] = [await conversation(service), await conversation(service)]
    const gate = Promise.withResolvers<void>()
    const isFlood = (request: ChatRequest) => isAsked('Flood', request)
    const flood = service.model.reply({
      when: isFlood,
      raw: [
        chunk({ content: 'a' }),
        gate.promise,
        ...Array.from({ length: 100_000 }, () => call({ index: 0, function: { arguments: ' ' } })),
        never,
      ],
    })
    service.model.reply({ when: isFlood, status: 400 })
    const hostileRun = hostile.stream('Flood')
    await flood.arrived
    gate.resolve()
    const run = await bystander.stream('Count')
    expect(run.messages[0].data.content).toBe('One two')
    expect((await hostileRun).end).toBe('error')
  })
})

describe('the fold of a stream with unchecked calls', () => {
  it('ignores invalid call numbers', () => {
    const view = emptyView()
    const piece = { type: 'call' as const, id: 'm', name: 'x', args: '{"__proto__": {"polluted": true}, "a": 1' }
    const indices: unknown[] = ['__proto__', 1e9, -1, 0.5, 3]
    const entries = indices.map((index) => ({ ...piece, index: Number(index) }))
    applyEntries(view, '1-0', [{ type: 'open' }, { type: 'begin', id: 'm' }, ...entries])
    const [shown] = [...view.messages.values()].map(toMessage)
    const calls = shown?.type === 'AIMessage' ? shown.data.tool_calls : undefined
    expect(calls?.map(({ args }) => JSON.stringify(args))).toEqual(['{"__proto__":{"polluted":true},"a":1}'])
    expect(Object.keys(Array.prototype)).toEqual([])
  })
})
