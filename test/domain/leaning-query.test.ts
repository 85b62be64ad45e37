import { expect, it } from 'vitest'
import { leansOnOthers, withSubject } from '../../domain/search/leaning-query.ts'

it.each([
  ['and in 2023?', 'revenue of Amalia Ltd 2022', 'revenue of Amalia Ltd and in 2023?'],
  ['und 2023?', 'Umsatz der Amalia GmbH', 'Umsatz der Amalia GmbH und 2023?'],
  ['Why is that so?', 'berth fees', 'berth fees Why is that so?'],
  ['What about Kiel?', 'berth fees in Lübeck', 'berth fees in Lübeck What about Kiel?'],
  ['und die Gebühren?', 'Hafen Lübeck', 'Hafen Lübeck und die Gebühren?'],
  // These name what they are about.
  ['Kündigungsfrist', 'berth fees', 'Kündigungsfrist'],
  ['revenue of Amalia Ltd in 2023', 'berth fees', 'revenue of Amalia Ltd in 2023'],
  ['and who paid the dredging of the basin?', 'berth fees', 'and who paid the dredging of the basin?'],
  ['and in 2023?', undefined, 'and in 2023?'],
])('%s after %s searches for %s', (query, before, expected) => {
  expect(withSubject(query, before)).toBe(expected)
})

it('texts of any length are looked at in a moment', () => {
  expect(leansOnOthers(`and ${'in '.repeat(100_000)}`)).toBe(false)
})
