import { globSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { errorCodes, httpStatusOf } from '../../domain/errors.ts'
import { runErrorTypes } from '../../domain/run-errors.ts'
import { translated } from '../../web/src/lib/service-sentences.ts'
import { textsIn } from '../../web/src/texts/embed.ts'
import { languages } from '../../web/src/texts/languages.ts'
import { type Value, fill } from '../../web/src/texts/read.ts'

const folder = path.join(import.meta.dirname, '../../web/src/texts')
const parts = readdirSync(path.join(folder, 'en'))
const read = (language: string, part: string): unknown =>
  JSON.parse(readFileSync(path.join(folder, language, part), 'utf8'))

/** The texts by their places. */
function placesIn(value: unknown, place = ''): [place: string, text: string][] {
  if (typeof value === 'string') return [[place, value]]
  if (typeof value !== 'object' || value === null) throw new Error(`${place} is no text`)
  return Object.entries(value).flatMap(([name, inner]) => placesIn(inner, `${place}.${name}`))
}

/** The names of the values of a text, in all its forms. */
function namesIn(text: string, locale: string): string[] {
  const names = new Set<string>()
  const values = new Proxy<Record<string, Value>>({}, { get: (_, name) => (names.add(String(name)), 1) })
  fill(text, values, locale)
  return [...names].toSorted()
}

/** What writes of braces, to be shown as it is. */
const isLiteral = (place: string) => place === '.prompts.promptHelp'

it('has a folder for each language, with the files of the English one', () => {
  expect(parts.length).toBeGreaterThan(15)
  const folders = globSync('*/console.json', { cwd: folder }).map((file) => path.dirname(file))
  expect(folders.toSorted()).toEqual([...languages].toSorted())
  for (const language of languages) expect(readdirSync(path.join(folder, language))).toEqual(parts)
})

it.each(languages.flatMap((language) => parts.map((part) => [language, part] as const)))(
  'has every text in %s/%s, with the same values',
  (language, part) => {
    const english = placesIn(read('en', part))
    const translations = new Map(placesIn(read(language, part)))
    expect(english.length).toBeGreaterThanOrEqual(5)
    expect([...translations.keys()]).toEqual(english.map(([place]) => place))
    for (const [place, text] of english) {
      const translation = translations.get(place) ?? ''
      expect(text !== '' && translation.trim() === '', place).toBe(false)
      if (isLiteral(place)) continue
      // English needs no word such as the German "dich".
      const names = namesIn(translation, language).filter((name) => name !== 'self')
      expect(names, place).toEqual(namesIn(text, 'en'))
      expect(translation.split('{').length, place).toBe(translation.split('}').length)
      for (const choice of translation.match(/\w+, (?:plural|select),/g) ?? [])
        expect(translation.slice(translation.indexOf(choice)), place).toMatch(/ other \{/)
    }
    if (language === 'en') return
    // Names and terms may be the same; a sentence may not.
    const sentences = english.filter(([, text]) => /[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}/.test(text))
    expect(sentences.filter(([place, text]) => translations.get(place) === text)).toEqual([])
  },
)

it('names every value of every text', async () => {
  const modules = import.meta.glob<Record<string, unknown>>('../../web/src/texts/*.ts')
  // Sentences whose values are parts of the page, or what a pattern found.
  const filledElsewhere = /^\/(?:audit\.json\.sentences|sentences\.json)\./
  for (const part of parts) {
    const name = part === 'console.json' ? 'index.ts' : part.replace('.json', '.ts')
    const module = await modules[`../../web/src/texts/${name}`]?.()
    const texts = part === 'embed.json' ? textsIn('en') : Object.values(module ?? {})[0]
    for (const [place, text] of placesIn(read('en', part))) {
      const names = namesIn(text, 'en')
      if (filledElsewhere.test(`/${part}${place}`) || isLiteral(place) || names.length === 0) continue
      const said = place
        .split('.')
        .slice(1)
        .reduce<unknown>((inner, key) => Object(inner)[key], texts)
      if (typeof said !== 'function') throw new Error(`${part}${place} needs ${names.join(', ')}`)
      const used = new Set<number>()
      said(...Array.from({ length: 9 }, (_, index) => ({ [Symbol.toPrimitive]: () => (used.add(index), 1) })))
      expect(
        [...used].toSorted((a, b) => a - b),
        `${part}${place}`,
      ).toEqual(names.map((_, index) => index))
    }
  }
})

it.each(languages)(
  'has words in %s for every code of the service, and for every reason for which a run fails',
  (language) => {
    const { errors } = read(language, 'console.json') as { errors: { statuses: object; runs: object } }
    expect(Object.keys(errors.statuses).map(Number)).toEqual(errorCodes.map((code) => httpStatusOf[code]))
    expect(Object.keys(errors.runs).toSorted()).toEqual([...runErrorTypes].toSorted())
  },
)

it('has words for sentences of the service, with what they say', () => {
  expect(translated('Too many requests; try again in 7 seconds.')).toBe(
    'That was too much at once. It goes on in 7 seconds.',
  )
  for (const what of ['could not be reached. See whether it runs', 'refused the key (401)', 'answered 500'])
    expect(translated(`The server ${what}.`), what).toBeDefined()
  expect(translated('Something that nobody has translated.')).toBeUndefined()
})

it('fills texts in the forms of ICU messages', () => {
  const files = '{amount, plural, =0 {no files} one {# file of {name}} other {# files of {name}}}.'
  expect(fill(files, { amount: 0, name: 'Ada' }, 'en')).toBe('no files.')
  expect(fill(files, { amount: 1, name: 'Ada' }, 'en')).toBe('1 file of Ada.')
  expect(fill(files, { amount: 12_345, name: '{amount}' }, 'de')).toBe('12.345 files of {amount}.')
  expect(fill('{amount, plural, one {# chat} other {# chats}}', { amount: 0 }, 'fr')).toBe('0 chat')
  const kinds = 'a {kind, select, page {page {number}} other {{kind}}}!'
  expect(fill(kinds, { kind: 'page', number: 3 }, 'en')).toBe('a page 3!')
  expect(fill(kinds, { kind: '__proto__' }, 'en')).toBe('a __proto__!')
  expect(fill('{a} # {missing}{b}', { a: '', b: 2 }, 'en')).toBe(' # 2')
})

it('has no straight quotes in English but in what is sent to models', () => {
  const shown = parts.filter((part) => part !== 'starts.json').flatMap((part) => placesIn(read('en', part)))
  expect(shown.length).toBeGreaterThan(1000)
  expect(shown.filter(([, text]) => text.includes('"'))).toEqual([])
})
