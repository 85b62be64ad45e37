import { expect, it } from 'vitest'
import { type RunEntry, applyEntries, emptyView } from '../../domain/run-events.ts'
import { createTextProgress } from '../../domain/text-progress.ts'

const begin: RunEntry = { type: 'begin', id: 'a' }
const text = (said: string): RunEntry => ({ type: 'text', id: 'a', text: said })
const whole = (content: string): RunEntry => ({
  type: 'message',
  message: { type: 'AIMessage', data: { id: 'a', content } },
})

/** What a reader is sent after each of several batches. */
function told(...batches: RunEntry[][]): (string | null)[] {
  const view = emptyView()
  const progress = createTextProgress()
  return batches.map((entries, index) => {
    applyEntries(view, `1-${index + 1}`, entries)
    const folded = view.messages.get('a')
    const { delta = '', contradicted = false } = folded ? progress.advance(folded) : {}
    return contradicted ? null : delta
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
