import { expect, it } from 'vitest'
import { preferredLanguage } from '../../domain/languages.ts'

it.each([
  ['de', 'de'],
  ['de-CH, en', 'de'],
  ['DE-de;q=0.9,EN-us', 'en'],
  ['it, de ; q=0.5, en;q=0.3', 'de'],
  ['fr-CA', 'fr'],
  ['es-419, en;q=0.8', 'es'],
  ['en;q=0, de;q=0.001', 'de'],
  ['en, de', 'en'],
  ['*', undefined],
  ['', undefined],
  // Slavey, and what only looks like a language.
  ['den, de_DE, de;q=2, de;q=-1, de-', undefined],
  [`${'it,'.repeat(32)}de`, undefined],
  [`de,${'x'.repeat(1000)}`, undefined],
  [undefined, undefined],
])('prefers of "%s": %s', (header, language) => {
  expect(preferredLanguage(header)).toBe(language)
})
