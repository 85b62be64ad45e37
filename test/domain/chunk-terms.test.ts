import { describe, expect, it } from 'vitest'
import { chunkTerms, germanStem, isGerman, questionTerms } from '../../domain/search/chunk-terms.ts'
import { createKnownTexts } from '../../domain/search/known-texts.ts'

describe('the terms of chunks', () => {
  it('are stems in German texts only, and questions find both', () => {
    const german = chunkTerms('Die Häuser wurden im Jahr 1920 von der Stadt gebaut.')
    expect(german).toContain('1920')
    const question = questionTerms('Wann wurde das Haus gebaut?')
    for (const stem of [germanStem('häuser'), germanStem('gebaut')]) {
      expect(german).toContain(stem)
      expect(question).toContain(stem)
    }
    expect(chunkTerms('The houses were built by the city.')).toEqual(['house', 'built', 'city'])
    expect(questionTerms('houses')).toContain('house')
  })

  it('of a German question are also what its compounds are made of', () => {
    const parts = questionTerms('Wie hoch ist die Energieversorgung?')
    for (const word of ['versorgung', 'energie']) expect(parts).toContain(germanStem(word))
    expect(questionTerms('What is the headquarters of the company?')).toHaveLength(3)
    const longest = questionTerms(`Wie heißt die ${'donaudampfschifffahrts'.repeat(20)}?`)
    expect(longest.length).toBeLessThan(10)
  })

  it('of letters and digits are also their parts', () => {
    expect(chunkTerms('FY2018 and 10-K of the year')).toEqual(['fy2018', 'fy', '2018', '10', 'k', 'year'])
    expect(questionTerms('revenue 2018')).toContain('2018')
  })

  it.each([
    ['Wie hoch war der Umsatz?', true],
    ['What was the revenue of the company?', false],
    ['Umsatz 2019', false],
    ['Quel est le revenu?', false],
  ])('%s is German: %s', (text, expected) => {
    expect(isGerman(text)).toBe(expected)
  })

  // The examples of its authors, and forms of one word.
  it.each([
    ['speicherbehältern', 'speicherbehal'],
    ['grenzpostens', 'grenzpo'],
    ['ausgefeiltere', 'ausgefeil'],
    ['gefunden', germanStem('fund')],
    ['häuser', germanStem('haus')],
    ['umsätze', germanStem('umsatz')],
  ])('the German stem of %s is %s', (word, stem) => {
    expect(germanStem(word)).toBe(stem)
  })
})

it('texts with the same words are told from others', () => {
  const isKnown = createKnownTexts()
  expect(isKnown('The fee of Miller & Sons is 12 marks.')).toBe(false)
  expect(isKnown('the FEE\n of  Miller & Sons — is 12 marks')).toBe(true)
  expect(isKnown('The fee of Miller & Sons is 13 marks.')).toBe(false)
  expect(isKnown('The fee of Smith & Sons is 12 marks.')).toBe(false)
  expect(isKnown('The fee of Smith & Sons is not 12 marks.')).toBe(false)
  expect(isKnown('The fee of Smith & Sons is 12 marks. 12 marks.')).toBe(false)
  expect(isKnown('Smith pays Miller 1.2 marks.')).toBe(false)
  for (const other of ['Miller pays Smith 1.2 marks.', 'Smith pays Miller 1 2 marks.', 'Smith pays Miller -1.2 marks.'])
    expect(isKnown(other)).toBe(false)
  for (const nothing of ['', ' ']) expect(isKnown(nothing)).toBe(false)
})
