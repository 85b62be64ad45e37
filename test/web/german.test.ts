import { expect, it } from 'vitest'
import { errorCodes, httpStatusOf } from '../../domain/errors.ts'
import { runErrorTypes } from '../../domain/run-errors.ts'
import { deAudit } from '../../web/src/texts/de-audit.ts'
import { deMemory } from '../../web/src/texts/de-memory.ts'
import { deOperation } from '../../web/src/texts/de-operation.ts'
import { deStarts } from '../../web/src/texts/de-starts.ts'
import { deTiming } from '../../web/src/texts/de-timing.ts'
import { de } from '../../web/src/texts/de.ts'
import { enAudit } from '../../web/src/texts/en-audit.ts'
import { enMemory } from '../../web/src/texts/en-memory.ts'
import { enOperation } from '../../web/src/texts/en-operation.ts'
import { enStarts } from '../../web/src/texts/en-starts.ts'
import { enTiming } from '../../web/src/texts/en-timing.ts'
import { en } from '../../web/src/texts/en.ts'

/** The texts by their places; of functions, what they say about the words a, b, c. */
function textsIn(value: unknown, place = ''): [place: string, text: string][] {
  if (typeof value === 'string') return [[place, value]]
  if (typeof value === 'function') return textsIn(String(value), place)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => textsIn(inner, `${place}.${name}`))
}

it.each([
  ['console', en, de],
  ['audit', enAudit, deAudit],
  ['memory', enMemory, deMemory],
  ['operation', enOperation, deOperation],
  ['starts', enStarts, deStarts],
  ['timing', enTiming, deTiming],
])('has every sentence of the %s in German', (_part, english, german) => {
  const translated = new Map(textsIn(german))
  const places = textsIn(english)
  expect(places.length).toBeGreaterThan(10)
  expect([...translated.keys()].toSorted()).toEqual(places.map(([place]) => place).toSorted())
  // Names and terms may be the same; a sentence may not.
  const sentences = places.filter(([, text]) => /[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}/.test(text))
  expect(sentences.filter(([place, text]) => translated.get(place) === text)).toEqual([])
})

it.each([
  ['English', en],
  ['German', de],
])(
  'has words in %s for every code of the service, and for every reason for which a run fails',
  (_language, { errors }) => {
    expect(Object.keys(errors.statuses).map(Number)).toEqual(errorCodes.map((code) => httpStatusOf[code]))
    expect(Object.keys(errors.runs).toSorted()).toEqual([...runErrorTypes].toSorted())
  },
)

it('never shows German readers a sentence of the service in English', () => {
  expect(de.errors.said('Too many requests; try again in 7 seconds.')).toBe(
    'Das war zu viel auf einmal. In 7 Sekunden geht es weiter.',
  )
  expect(de.errors.said('Something that nobody has translated.')).toBeUndefined()
})
