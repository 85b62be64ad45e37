import { expect, it, test } from 'vitest'
import { readSuggestions, suggestionLimits } from '../../services/runs/suggestions/index.ts'
import { watchProcessor } from '../support/slowness.ts'

const titled = (answer: string) => readSuggestions(answer, { hasTitle: true })

it('reads a title and questions as a model should write them', () => {
  expect(titled('Regen in Lissabon\nWie warm ist es?\nRegnet es morgen?\nBrauche ich einen Schirm?')).toEqual({
    title: 'Regen in Lissabon',
    questions: ['Wie warm ist es?', 'Regnet es morgen?', 'Brauche ich einen Schirm?'],
  })
})

test.each([
  ['thinking', '<think>Title?\nHm.</think>\nRain\nWhen?', { title: 'Rain', questions: ['When?'] }],
  ['thinking without an end', 'Rain\n<think>When', { title: 'Rain', questions: [] }],
  ['only thinking', '<think>Rain\nWhen?', { questions: [] }],
  ['the end of thinking alone', 'so.</think>Rain', { title: 'Rain', questions: [] }],
  [
    'marks, numbers, labels and quotes',
    '```\n# **Title: "Rain in Lisbon."**\n\n1. `When?`\n- [Where](https://x.example/y)?\nQ3: *Why?*\n```',
    { title: 'Rain in Lisbon', questions: ['When?', 'Where?', 'Why?'] },
  ],
  ['tags', '<b>Rain</b><img src=x onerror=1>\n<script>a?</script>', { title: 'Rain', questions: ['a?'] }],
  ['what turns the text around', '\u202eRain\u2066\u0000\nWh\u200ben?', { title: 'Rain', questions: ['Wh en?'] }],
  ['repetitions, and more than three', 'T\na?\na?\nb?\nc?\nd?', { title: 'T', questions: ['a?', 'b?', 'c?'] }],
  ['a year at the beginning', 'T\n2024: what happened?', { title: 'T', questions: ['2024: what happened?'] }],
  ['nothing', ' \n---\n', { questions: [] }],
])('leaves out %s', (_what, answer, expected) => {
  expect(titled(answer)).toEqual(expected)
})

it('bounds the title and leaves out questions that are too long', () => {
  const long = 'word '.repeat(40)
  const { title = '', questions } = titled(`${long}\n${long}\n${'a'.repeat(121)}\n${'b'.repeat(120)}`)
  expect(title.length).toBeLessThanOrEqual(suggestionLimits.title)
  expect(title).toMatch(/^(?:word )+word…$/)
  expect(questions).toEqual(['b'.repeat(120)])
  expect(titled('𠀀'.repeat(90)).title).toMatch(/^(?:𠀀)+…$/u)
})

it('keeps what joins letters and pictures', () => {
  expect(titled('می\u200cخواهم 👩\u200d💻').title).toBe('می\u200cخواهم 👩\u200d💻')
})

it('reads questions alone', () => {
  expect(readSuggestions('When?\nWhere?', { hasTitle: false })).toEqual({ questions: ['When?', 'Where?'] })
})

test.each(['[', '<', '[a](', '"', '1.', 'title ', '\n', '<think>', '\u202e'])('is quick for many of %j', (part) => {
  const took = watchProcessor()
  titled(part.repeat(100_000))
  expect(took()).toBeLessThan(200)
})
