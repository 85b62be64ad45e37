import { describe, expect, it } from 'vitest'
import type { Message } from '../../domain/messages.ts'
import { itemsOf } from '../../domain/responses/items-of.ts'
import { createAnswer } from '../../services/runs/answer.ts'
import { promptOf } from '../../services/runs/chat-request.ts'

const asks = (id: string, ...calls: [id: string, city: string][]): Message => ({
  type: 'AIMessage',
  data: {
    id,
    content: '',
    tool_calls: calls.map(([callId, city]) => ({ id: callId, name: 'weather', args: { city }, type: 'tool_call' })),
  },
})
const result = (id: string, callId: string, content: string): Message => ({
  type: 'ToolMessage',
  data: { id, content, tool_call_id: callId, name: 'weather' },
})

/** The cities that the model is shown with the results next to them. */
function shown(messages: Message[]) {
  const prompt = promptOf(messages, [])
  return prompt.flatMap((message, at) =>
    message.role !== 'assistant'
      ? []
      : (message.tool_calls ?? []).map((call, index) => {
          const answer = prompt[at + 1 + index]
          const isIts = answer?.role === 'tool' && answer.tool_call_id === call.id
          return [JSON.parse(call.function.arguments).city, isIts ? answer.content : undefined]
        }),
  )
}

describe('ids of calls that come again', () => {
  const answers: Message[] = [
    { type: 'HumanMessage', data: { id: 'q', content: 'Weather?' } },
    asks('a0', ['call_0', 'Paris']),
    result('t0', 'call_0', 'Rain in Paris'),
    asks('a1', ['call_0', 'Oslo']),
    result('t1', 'call_0', 'Snow in Oslo'),
  ]

  it('do not give one call the result of another', () => {
    expect(shown(answers)).toEqual([
      ['Paris', 'Rain in Paris'],
      ['Oslo', 'Snow in Oslo'],
    ])
    expect(shown(answers.toSpliced(4))).toEqual([
      ['Paris', 'Rain in Paris'],
      ['Oslo', 'There is no result of this call.'],
    ])
  })

  it('of one answer take the results in their order, and are distinct for the model', () => {
    const twice = [asks('a', ['x', 'Paris'], ['x', 'Oslo']), result('t0', 'x', 'Rain'), result('t1', 'x', 'Snow')]
    expect(shown(twice)).toEqual([
      ['Paris', 'Rain'],
      ['Oslo', 'Snow'],
    ])
    const [asked] = promptOf(twice, [])
    const ids = asked?.role === 'assistant' ? asked.tool_calls?.map(({ id }) => id) : []
    expect(new Set(ids).size).toBe(2)
  })

  it('belong to the nearest call without a result', () => {
    const late = [
      asks('a0', ['x', 'Paris']),
      asks('a1', ['x', 'Oslo']),
      result('t0', 'x', 'Snow'),
      result('t1', 'x', 'Rain'),
    ]
    expect(shown(late)).toEqual([
      ['Paris', 'Rain'],
      ['Oslo', 'Snow'],
    ])
    expect(shown([result('t', 'x', 'stray'), asks('a', ['x', 'Paris'])])).toEqual([
      ['Paris', 'There is no result of this call.'],
    ])
  })

  it('are shown with their own results in items', () => {
    const items = itemsOf(answers, {
      cited: () => [],
      functions: new Set(),
      shapes: new Map(),
      sources: () => [],
      written: () => [],
      container: { id: 'cntr_t', linkOf: (fileId: string) => fileId },
      serverLabels: [],
      withResults: false,
      isOpen: false,
    })
    expect(items.flatMap((item) => (item.type === 'mcp_call' ? [item.output] : []))).toEqual([
      'Rain in Paris',
      'Snow in Oslo',
    ])
  })
})

it('sends the model the names of who speaks, as far as servers take them', () => {
  const said = (name: string): Message => ({ type: 'HumanMessage', data: { id: name, content: 'Hi', name } })
  expect(promptOf([said('anna_1'), said('Anna B.')], [])).toEqual([
    { role: 'user', content: 'Hi', name: 'anna_1' },
    { role: 'user', content: 'Hi' },
  ])
})

describe('the calls of an answer', () => {
  const read = (...deltas: { index: number; id?: string; name?: string; args?: string }[]) => {
    const answer = createAnswer('r-0')
    for (const delta of deltas) answer.add({ type: 'call', ...delta })
    return { calls: answer.message().data.tool_calls, unreadable: [...answer.unreadableCalls()] }
  }

  it('get distinct ids, and keep those of the model beside', () => {
    const { calls } = read(
      { index: 0, id: 'same', name: 'a' },
      { index: 1, id: 'same', name: 'b' },
      { index: 1, id: 'same', args: '{}' },
      { index: 2, name: 'c' },
    )
    expect(calls?.map(({ id, model_id: own }) => [id, own])).toEqual([
      ['same', undefined],
      ['call_r-0_1', 'same'],
      ['call_r-0_2', undefined],
    ])
  })

  it.each(['', 'null', ' '])('without arguments are calls with none: %j', (args) => {
    expect(read({ index: 0, id: 'x', name: 'a', args })).toMatchObject({ calls: [{ args: {} }], unreadable: [] })
  })

  it.each(['1', '[]', '"a"', '{"a":'])('with other arguments than an object are not made: %s', (args) => {
    expect(read({ index: 0, id: 'x', name: 'a', args }).unreadable).toEqual([0])
  })
})
