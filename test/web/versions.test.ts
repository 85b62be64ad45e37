import { expect, test } from 'vitest'
import type { Message } from '../../client/src/index.ts'
import type { Run } from '../../web/src/lib/api.ts'
import { turnsOf } from '../../web/src/lib/conversation.ts'
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

test('a run that failed before it answered stays with its question, whatever follows', () => {
  const id = (number: number) => `00000000-0000-7000-8000-00000000000${number}`
  const run = (number: number, isFailed: boolean): Run => ({
    run_id: id(number),
    thread_id: 't',
    assistant_id: 'a',
    status: isFailed ? 'error' : 'success',
    created_at: '2026-01-01T00:00:00.000Z',
    started_at: null,
    finished_at: null,
    error: isFailed ? { status_code: 502, type: 'model_error', message: 'It failed.', details: '' } : null,
    usage: null,
    model: null,
    cost: null,
    currency: 'USD',
    finish_reason: null,
    expires_at: null,
  })
  const stored = [asks('a'), says(`${id(1)}-1`), asks('b'), asks('c'), asks('d'), says(`${id(5)}-1`)]
  // The second question was tried twice; newest first, as the service lists them.
  const runs = [run(5, false), run(4, true), run(3, true), run(2, true), run(1, false)]
  const { turns } = turnsOf({ stored, runs, sent: [], followedOf: () => undefined, last: undefined })
  expect(turns.map(({ run: its }) => its?.run_id)).toEqual([id(1), id(3), id(4), id(5)])
})
