import { expect, it } from 'vitest'
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
