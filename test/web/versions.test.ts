import { expect, test } from 'vitest'
import type { Message } from '../../client/src/index.ts'
import { readVersions } from '../../web/src/lib/versions.ts'

const asks = (id: string, after?: string | null): Message => ({
  type: 'HumanMessage',
  data: { id, content: id, ...(after !== undefined && { after }) },
})
const says = (id: string): Message => ({ type: 'AIMessage', data: { id, content: id } })
const idsOf = (messages: Message[]) => messages.map(({ data }) => data.id)

test('a changed question is a version of the one before it', () => {
  const messages = [asks('a'), says('1'), asks('b'), says('2'), asks('c', '1'), says('3')]
  const versions = readVersions(messages)
  expect(idsOf(versions.line)).toEqual(['a', '1', 'c', '3'])
  expect(versions.of('c')).toEqual({ ids: ['b', 'c'], after: '1' })
  expect(versions.endOf('b')).toBe('2')
  expect(idsOf(readVersions(messages, '2').line)).toEqual(['a', '1', 'b', '2'])
})

test('a message that stands in the list twice is shown once', () => {
  const versions = readVersions([asks('a'), says('1'), asks('b'), asks('b')])
  expect(idsOf(versions.line)).toEqual(['a', '1', 'b'])
  expect(versions.of('b')).toEqual({ ids: ['b'], after: '1' })
})

test('messages that follow each other in a circle are shown once', () => {
  expect(idsOf(readVersions([asks('a', 'b'), asks('b', 'a')]).line)).toEqual(['a', 'b'])
  expect(idsOf(readVersions([asks('a', 'a')]).line)).toEqual(['a'])
})
