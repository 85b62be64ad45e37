import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { eventComponents } from '../../api/openapi/events.ts'
import { createCanonicalArguments } from '../../domain/canonical-arguments.ts'
import type { Message } from '../../domain/messages.ts'
import { readPartialObject } from '../../domain/partial-json.ts'
import type { CallShape } from '../../domain/responses/call-shape.ts'
import { type ResponseEvent, createOutputEvents } from '../../domain/responses/events.ts'
import { itemPositionOf } from '../../domain/responses/ids.ts'
import { type ItemContext, outputOf } from '../../domain/responses/items-of.ts'
import { pieceEnd } from '../../domain/responses/text-pieces.ts'
import type { FoldedMessage } from '../../domain/run-events.ts'

const context: ItemContext = {
  cited: () => [],
  functions: new Set(['mine']),
  shapes: new Map(),
  sources: () => [],
  written: () => [],
  container: { id: 'cntr_t', linkOf: (fileId: string) => fileId },
  serverLabels: ['sums'],
  withResults: false,
  isOpen: true,
}
const call = (id: string, name: string) => ({ id, name, args: { query: id }, type: 'tool_call' as const })
const messages: Message[] = [
  {
    type: 'AIMessage',
    data: { id: 'a0', content: 'I look 👍 it up.', tool_calls: [call('c1', 'retrieval'), call('c2', 'sums_add')] },
  },
  { type: 'ToolMessage', data: { id: 't1', content: '{"passages":[]}', tool_call_id: 'c1', name: 'retrieval' } },
  { type: 'ToolMessage', data: { id: 't2', content: '3', tool_call_id: 'c2' } },
  {
    type: 'AIMessage',
    data: { id: 'a1', content: 'Done: Überraschungsergebnisse.', tool_calls: [call('c3', 'mine')] },
  },
]
const whole = (message: Message): FoldedMessage => ({
  id: message.data.id,
  changedAt: '0-0',
  content: { whole: message },
})
const begun = (id: string, text: string): FoldedMessage => ({
  id,
  changedAt: '0-0',
  content: { pieces: { text, reasoning: '', refusal: '', calls: new Map(), logprobs: [] } },
})

/** An answer that is calling functions of the client, with the beginnings of their arguments. */
const calling = (id: string, text: string, args: string[]): FoldedMessage => {
  const calls = args.map((part, index) => [index, { call_id: `c${index + 1}`, name: 'mine', args: part }] as const)
  return {
    id,
    changedAt: '0-0',
    content: { pieces: { text, reasoning: '', refusal: '', calls: new Map(calls), logprobs: [] } },
  }
}

/** The events of states that follow each other; the last one is the end. */
function eventsOf(states: FoldedMessage[][]): ResponseEvent[] {
  const output = createOutputEvents(context)
  return states.flatMap((state, index) => output.advance(state, index === states.length - 1).events)
}

describe('events of a response', () => {
  it('are all in the description of the API, with their data', () => {
    const { V1ResponseStreamEvent: described } = eventComponents
    if (described === undefined) throw new Error('the stream is not described')
    const listed = { id: 'l', type: 'mcp_list_tools' as const, server_label: 'sums', tools: [], error: null }
    const custom = { ...context, shapes: new Map<string, CallShape>([['mine', { type: 'custom', name: 'mine' }]]) }
    const output = createOutputEvents(custom, [listed])
    const searched = { ...call('c4', 'web_search') }
    const last: Message = { type: 'AIMessage', data: { id: 'a2', content: '', refusal: 'No.', tool_calls: [searched] } }
    const result: Message = { type: 'ToolMessage', data: { id: 't4', content: '[]', tool_call_id: 'c4' } }
    const sent = output.advance([...messages, last, result].map(whole), true).events
    const types = new Set(sent.map(({ type }) => type))
    for (const kind of ['mcp_list_tools.completed', 'mcp_call.completed', 'file_search_call.searching'] as const)
      expect(types).toContain(`response.${kind}`)
    expect(types).toContain('response.web_search_call.completed')
    for (const [sequence, event] of sent.entries())
      expect([
        event.type,
        Value.Check(described, { event: event.type, data: { ...event, sequence_number: sequence } }),
      ]).toEqual([event.type, true])
  })

  const all = messages.map(whole)

  it('are the same however the messages arrive', () => {
    const atOnce = eventsOf([all])
    const states: FoldedMessage[][] = []
    for (const [index, message] of messages.entries()) {
      if (message.type === 'AIMessage')
        for (let length = 0; length <= message.data.content.length; length++)
          states.push([...all.slice(0, index), begun(message.data.id, message.data.content.slice(0, length))])
      states.push(all.slice(0, index + 1))
    }
    expect(eventsOf([...states, all])).toEqual(atOnce)
    const done = atOnce.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)
    expect(done).toEqual(outputOf(messages, { ...context, isOpen: false }))
    expect(done).toMatchObject([
      { type: 'message' },
      { type: 'file_search_call', status: 'completed' },
      { type: 'mcp_call', server_label: 'sums', name: 'add', output: '3' },
      { type: 'message' },
      { type: 'function_call', name: 'mine' },
    ])
    const text = atOnce.flatMap(({ type, delta }) => (type === 'response.output_text.delta' ? [delta] : [])).join('')
    expect(text).toBe('I look 👍 it up.Done: Überraschungsergebnisse.')
  })

  it('are the same however the arguments of functions arrive', () => {
    const args = { city: 'Köln "Süd" 👍', place: { at: [1.5, -2, null, true, {}], none: [] }, note: 'a\\b\nc' }
    // As models write it: with spaces, escapes and another form of numbers, which stay as they are.
    const source = JSON.stringify(args, undefined, 2)
      .replaceAll('ö', String.raw`\u00f6`)
      .replaceAll('👍', String.raw`\ud83d\uDC4d`)
      .replaceAll('1.5', '15e-1')
    const calls = ['c1', 'c2'].map((id) => ({
      id,
      name: 'mine',
      args: readPartialObject(source),
      type: 'tool_call' as const,
    }))
    const message: Message = { type: 'AIMessage', data: { id: 'a0', content: 'I ask.', tool_calls: calls } }
    const atOnce = eventsOf([[whole(message)]])
    const states = [begun('a0', 'I ask.')]
    for (let index = 0; index < 2; index++)
      for (let length = 0; length <= source.length; length++) {
        const before = index === 0 ? [] : [source]
        states.push(calling('a0', 'I ask.', [...before, source.slice(0, length)]))
      }
    const live = eventsOf([...states.map((state) => [state]), [whole(message)]])
    expect(live).toEqual(atOnce)
    const output = createOutputEvents(context)
    const early = output.advance([calling('a0', 'I ask.', [source.slice(0, 60)])], false).events
    const deltas = early.filter(({ type }) => type === 'response.function_call_arguments.delta')
    expect(deltas.length).toBeGreaterThan(1)
    const written = JSON.stringify(args).replace('1.5', '15e-1')
    expect(written).toContain(deltas.map(({ delta }) => delta).join(''))
    const texts = atOnce.flatMap(({ type, arguments: text }) => (type.endsWith('arguments.done') ? [text] : []))
    expect(texts).toEqual([written, written])
  })

  it('go on after arguments that are no object, and tell when another attempt calls something else', () => {
    const wrong = '{"city": "Bonn", oops'
    const stored = (callId: string, argumentTexts: string[]): FoldedMessage => ({
      ...whole({
        type: 'AIMessage',
        data: { id: 'a0', content: '', tool_calls: [{ id: callId, name: 'mine', args: {}, type: 'tool_call' }] },
      }),
      content: {
        whole: {
          type: 'AIMessage',
          data: { id: 'a0', content: '', tool_calls: [{ id: callId, name: 'mine', args: {}, type: 'tool_call' }] },
        },
        argumentTexts,
      },
    })
    const output = createOutputEvents(context)
    output.advance([calling('a0', '', [wrong])], false)
    const end = output.advance([stored('c1', [wrong])], true)
    expect(end.contradicted).toBe(false)
    expect(end.events.at(-1)).toMatchObject({ item: { type: 'function_call', arguments: '{}' } })
    const other = createOutputEvents(context)
    other.advance([calling('a0', '', ['{"city": "Bonn"'])], false)
    expect(other.advance([stored('c9', ['{}'])], true).contradicted).toBe(true)
  })

  it('stop where JSON.stringify moves what follows', () => {
    for (const [source, text] of [
      ['{"a":1,"a":2}', '{"a":1'],
      ['{"b":1, "2":2}', '{"b":1'],
    ] as const) {
      const canonical = createCanonicalArguments()
      expect(canonical.read(source.slice(0, -4))).toEqual({ text, isWhole: false })
      expect(canonical.read(source)).toEqual({ text, isWhole: false })
    }
  })

  it.each(['[1]', '"x"', '{"a" 1}', '{,}', '{"a":tru}', '{"a":01}'])('say nothing that %s would not be', (source) => {
    const { text, isWhole } = createCanonicalArguments().read(source)
    const final = (() => {
      try {
        return JSON.stringify(JSON.parse(source))
      } catch {
        return text
      }
    })()
    expect(final.startsWith(text)).toBe(true)
    expect(isWhole).toBe(false)
  })

  it('wait while an answer that begins again is shorter than what was sent, and tell when it differs', () => {
    const output = createOutputEvents(context)
    const sent = output.advance([begun('a', 'One two three')], false)
    expect(sent.contradicted).toBe(false)
    expect(output.advance([begun('a', 'One')], false)).toEqual({ events: [], contradicted: false })
    const more = output.advance([begun('a', 'One two three four')], false).events
    expect(more.map(({ delta }) => delta)).toEqual([' three'])
    expect(output.advance([begun('a', 'Other words')], false)).toEqual({ events: [], contradicted: true })
  })

  it('close an answer that its run has left unfinished', () => {
    const events = eventsOf([[begun('a', 'Half an')]])
    expect(events.at(-1)).toMatchObject({
      type: 'response.output_item.done',
      item: { status: 'incomplete', content: [{ text: 'Half an' }] },
    })
  })
})

describe('pieces of a text', () => {
  it('are words with the space before them, at most eight characters, and never half a character', () => {
    const text = 'Hi  there, international 👍👍👍👍👍 end'
    const pieces: string[] = []
    for (let start = 0, end = pieceEnd(text, 0, true); end !== undefined; end = pieceEnd(text, start, true)) {
      pieces.push(text.slice(start, end))
      start = end
    }
    expect(pieces.join('')).toBe(text)
    expect(pieces.slice(0, 2)).toEqual(['Hi', '  there,'])
    for (const piece of pieces) expect(piece.isWellFormed()).toBe(true)
    expect(pieceEnd('Hi', 0, false)).toBeUndefined()
  })
})

describe('ids of items', () => {
  it('name the message and its call', () => {
    const entryId = '0193f7a3-0c9b-7e63-b0aa-7f4f1d2c8e32'
    expect(itemPositionOf(`msg_${entryId}-0`)).toEqual({ messageId: `${entryId}-0`, entryId })
    expect(itemPositionOf(`fco_${entryId}-i3`)).toEqual({ messageId: `${entryId}-i3`, entryId })
    expect(itemPositionOf(`fc_${entryId}-2_1`)).toEqual({ messageId: `${entryId}-2`, entryId, call: 1 })
    for (const wrong of ['', 'msg_', `msg_${entryId}`, `xx_${entryId}-0`, `fc_${entryId}-2`])
      expect(itemPositionOf(wrong)).toBeUndefined()
  })
})
