import { expect, it } from 'vitest'
import { type AnswerChange, createAnswerChanges } from '../../domain/answer-changes.ts'
import { type RunEntry, applyEntries, emptyView } from '../../domain/run-events.ts'

const begin: RunEntry = { type: 'begin', id: 'a' }
const text = (said: string): RunEntry => ({ type: 'text', id: 'a', text: said })
const whole = (content: string): RunEntry => ({
  type: 'message',
  message: { type: 'AIMessage', data: { id: 'a', content } },
})

type Options = Parameters<typeof createAnswerChanges>[0]

/** What is new after each of several batches. */
function changesOf(batches: RunEntry[][], options?: Options): AnswerChange[][] {
  const view = emptyView()
  const { changes } = createAnswerChanges(options)
  return batches.map((entries, index) => {
    applyEntries(view, `1-${index + 1}`, entries)
    return [...changes(view)]
  })
}

/** The text that a reader is sent after each of several batches; null if it is another one. */
function told(...batches: RunEntry[][]): (string | null)[] {
  return changesOf(batches).map((changes) => {
    if (changes.some(({ type }) => type === 'begins again')) return null
    return changes.map((change) => (change.type === 'text' ? change.delta : '')).join('')
  })
}

it('returns the added text', () => {
  expect(told([begin], [text('He')], [text('l'), text('lo')], [whole('Hello')])).toEqual(['', 'He', 'llo', ''])
})

it('returns the rest of a message that arrives whole', () => {
  expect(told([begin, text('He')], [whole('Hello')])).toEqual(['He', 'llo'])
})

it('returns nothing until a new attempt is longer than what was sent', () => {
  expect(
    told([begin, text('Hello')], [begin], [text('He')], [text('llo')], [text(' you')], [whole('Hello you')]),
  ).toEqual(['Hello', '', '', '', ' you', ''])
})

it('detects a new attempt with another or a shorter text', () => {
  expect(told([begin, text('Hello')], [begin, text('Hi')])).toEqual(['Hello', null])
  expect(told([begin, text('Hello')], [whole('Hell')])).toEqual(['Hello', null])
})

it('does not split a character', () => {
  const [high, low] = ['\uD83D', '\uDE00']
  expect(told([begin, text(`a${high}`)], [text(`${low}b`)])).toEqual(['a', '😀b'])
})

it('sends an answer after what was withdrawn once, also where it begins like it', () => {
  const restart: RunEntry = { type: 'restart', id: 'a', reasoning: 'The user greets.', text: 'T' }
  expect(told([begin, text('The user')], [restart], [text('he')], [text(' answer')])).toEqual([
    'The user',
    'T',
    'he',
    ' answer',
  ])
  expect(told([begin, text('The user'), restart], [text('he')], [text(' answer')])).toEqual(['T', 'he', ' answer'])
})

it('replaces what was thinking when it turns out to be the answer', () => {
  const view = emptyView()
  const thought: RunEntry = { type: 'reasoning', id: 'a', text: 'Hello' }
  applyEntries(view, '1-1', [begin, thought, { type: 'restart', id: 'a', reasoning: '', text: 'Hello' }])
  expect(view.messages.get('a')?.content).toMatchObject({ pieces: { reasoning: '', text: 'Hello' } })
})

const call = (args: string, name = 'look', id = 'c1'): RunEntry => ({
  type: 'call',
  id: 'a',
  index: 0,
  call_id: id,
  name,
  args,
})
const wholeCall = (args: Record<string, unknown>): RunEntry => ({
  type: 'message',
  message: {
    type: 'AIMessage',
    data: { id: 'a', content: '', tool_calls: [{ id: 'c1', name: 'look', args, type: 'tool_call' }] },
  },
})

/** The parts of calls after each of several batches. */
function called(batches: RunEntry[][], areCanonical: boolean): string[][] {
  return changesOf(batches, { isShown: () => true, areCanonical }).map((changes) =>
    changes.flatMap((change) => {
      if (change.type === 'begins again') return ['again']
      return change.type === 'call' ? [`${change.isFirst ? `${change.call.name}:` : ''}${change.delta}`] : []
    }),
  )
}

it('gives the arguments of a call as the model writes them, or as they are stored', () => {
  const batches = [[begin, call('{ "a"')], [{ ...call(': 1 '), name: 'look' } as RunEntry], [wholeCall({ a: 1 })]]
  expect(called(batches, false)).toEqual([['look:{ "a"'], [': 1 '], []])
  expect(called([...batches.slice(0, 2), [call('}'), wholeCall({ a: 1 })]], false)[2]).toEqual(['}'])
  expect(called(batches, true)).toEqual([['look:{"a"'], [':1'], ['}']])
})

it('begins again with the calls of an attempt that makes others', () => {
  const attempts = [
    [begin, call('{"a":1}')],
    [begin, call('{"a":')],
    [begin, call('{"b"', 'find')],
  ]
  expect(called(attempts, true)).toEqual([['look:{"a":1}'], [], ['again', 'find:{"b"']])
})

it('says once that a message is whole, and that the result of a call has come', () => {
  const result: RunEntry = {
    type: 'message',
    message: { type: 'ToolMessage', data: { id: 't', tool_call_id: 'c1', name: 'look', content: 'seen' } },
  }
  const seen = changesOf([[begin, wholeCall({})], [result], [{ type: 'end' }]])
  expect(seen.map((changes) => changes.map(({ type, folded }) => [type, folded.id]))).toEqual([
    [['message', 'a']],
    [['message', 't']],
    [],
  ])
})
