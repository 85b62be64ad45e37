import { expect, it } from 'vitest'
import { filled, variablesOf } from '../../web/src/lib/prompt-variables.ts'

it('finds the names in double braces, each once, and no more than a form can ask', () => {
  expect(variablesOf('Translate {{text}} into {{ language }}: {{text}}')).toEqual(['text', 'language'])
  expect(variablesOf('No {variables} here, {{}} nor {{ }}, {{a\nb}}')).toEqual([])
  expect(variablesOf(`{{${'x'.repeat(61)}}}`)).toEqual([])
  expect(variablesOf(Array.from({ length: 30 }, (_, place) => `{{v${place}}}`).join(' '))).toHaveLength(20)
})

it('puts what was written in their place, as it is', () => {
  const values = new Map([
    ['text', '$& and {{language}}'],
    ['language', 'German'],
  ])
  expect(filled('Translate {{text}} into {{ language }}. {{other}}', values)).toBe(
    'Translate $& and {{language}} into German. {{other}}',
  )
})
