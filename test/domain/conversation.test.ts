import { expect, it } from 'vitest'
import { createMessageWindow, foldMessages } from '../../domain/conversation.ts'
import { type Message, messagesToJson } from '../../domain/messages.ts'

const ask = (id: string, after?: string | null): Message => ({
  type: 'HumanMessage',
  data: { id, content: id, ...(after === undefined ? {} : { after }) },
})
const say = (id: string): Message => ({ type: 'AIMessage', data: { id, content: id } })
const rule: Message = { type: 'SystemMessage', data: { id: 'rule', content: 'Be brief.' } }
const ids = (messages: Message[]) => messages.map(({ data }) => data.id)

/** Two questions; the second has three versions, of which the first was continued last. */
const log = [
  rule,
  ask('one'),
  say('one.1'),
  ask('two'),
  say('two.1'),
  ask('two again', 'one.1'),
  say('two again.1'),
  ask('two once more', 'one.1'),
  say('two once more.1'),
  ask('three', 'two.1'),
  say('three.1'),
]

it('a conversation is the way from its newest message back to the first', () => {
  expect(ids(foldMessages([], log.slice(0, 5)))).toEqual(['rule', 'one', 'one.1', 'two', 'two.1'])
  expect(ids(foldMessages([], log.slice(0, 7)))).toEqual(['rule', 'one', 'one.1', 'two again', 'two again.1'])
  expect(ids(foldMessages([], log))).toEqual(['rule', 'one', 'one.1', 'two', 'two.1', 'three', 'three.1'])
  expect(ids(foldMessages([], log, 'two again.1'))).toEqual(['rule', 'one', 'one.1', 'two again', 'two again.1'])
  expect(foldMessages([], log, 'unknown')).toEqual([])
  // From the beginning, and after something that is not there: system messages stay.
  for (const after of [null, 'cut off'])
    expect(ids(foldMessages([], [...log, ask('new', after)]))).toEqual(['rule', 'new'])
  // What is known already does not change the way.
  expect(ids(foldMessages([], [...log.slice(0, 7), say('two.1')]))).toEqual(ids(foldMessages([], log.slice(0, 7))))
  // As a step does: the conversation as it was, and what follows.
  const before = foldMessages([], log.slice(0, 7))
  expect(ids(foldMessages(before, [ask('instead', 'one.1')]))).toEqual(['rule', 'one', 'one.1', 'instead'])
})

it('a window has the newest version, or all of them, and counts what it leaves out of what it shows', () => {
  const sizeOf = (message: Message) => Buffer.byteLength(messagesToJson([message]))
  const windowOf = (maxBytes: number, options = {}) => {
    const window = createMessageWindow(maxBytes, options)
    for (const message of log) window.add(message, sizeOf(message))
    return { shown: ids(window.messages()), omitted: window.omitted() }
  }
  expect(windowOf(100_000)).toEqual({ shown: ids(foldMessages([], log)), omitted: 0 })
  expect(windowOf(100_000, { allVersions: true })).toEqual({ shown: ids(log), omitted: 0 })
  expect(windowOf(100_000, { before: 'three' })).toEqual({ shown: ids(log.slice(0, 5)), omitted: 0 })
  expect(windowOf(100_000, { before: 'two once more' })).toEqual({ shown: ids(log.slice(0, 3)), omitted: 0 })
  expect(windowOf(100_000, { before: 'unknown' })).toEqual({ shown: [], omitted: 0 })
  const two = sizeOf(ask('three', 'two.1')) + sizeOf(say('three.1'))
  expect(windowOf(two)).toEqual({ shown: ['three', 'three.1'], omitted: 5 })
  expect(windowOf(two, { allVersions: true })).toEqual({ shown: ['three', 'three.1'], omitted: 9 })
})
