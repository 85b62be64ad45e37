import { describe, expect, it } from 'vitest'
import type { Message } from '../../domain/messages.ts'
import { type ResponseEvent, createOutputEvents } from '../../domain/responses/events.ts'
import { itemPlaceOf } from '../../domain/responses/ids.ts'
import { type ItemContext, outputOf } from '../../domain/responses/items-of.ts'
import { pieceEnd } from '../../domain/responses/text-pieces.ts'
import type { FoldedMessage } from '../../domain/run-events.ts'

const context: ItemContext = {
  cited: () => [],
  functions: new Set(['mine']),
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
  content: { pieces: { text, refusal: '', calls: new Map(), logprobs: [] } },
})

/** The events of states that follow each other; the last one is the end. */
function eventsOf(states: FoldedMessage[][]): ResponseEvent[] {
  const output = createOutputEvents(context)
  return states.flatMap((state, index) => output.advance(state, index === states.length - 1).events)
}

describe('events of a response', () => {
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
    expect(itemPlaceOf(`msg_${entryId}-0`)).toEqual({ messageId: `${entryId}-0`, entryId })
    expect(itemPlaceOf(`fco_${entryId}-i3`)).toEqual({ messageId: `${entryId}-i3`, entryId })
    expect(itemPlaceOf(`fc_${entryId}-2_1`)).toEqual({ messageId: `${entryId}-2`, entryId, call: 1 })
    for (const wrong of ['', 'msg_', `msg_${entryId}`, `xx_${entryId}-0`, `fc_${entryId}-2`])
      expect(itemPlaceOf(wrong)).toBeUndefined()
  })
})
