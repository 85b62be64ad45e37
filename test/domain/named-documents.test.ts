import { describe, expect, it } from 'vitest'
import { rankByNames, sharesOfNames } from '../../domain/search/named-documents.ts'

const reports = ['3M 2018 10K', '3M 2022 10K', 'AMCOR 2022 10K', 'French and Indian War']
const documents = reports.map((name) => [name])

function matchesOf(scores: Record<string, number>) {
  return Object.entries(scores).map(([name, score]) => ({ id: name, score }))
}
const namesOf = ({ id }: { id: string }) => documents.find(([name]) => name === id) ?? []
const ranked = (question: string, scores: Record<string, number>) => rankByNames(question, matchesOf(scores), namesOf)

describe('names of documents', () => {
  it('count by what tells them apart', () => {
    const [both = 0, company = 0, year = 0, neither] = sharesOfNames('the FY2018 revenue of 3M in its 10K', documents)
    expect([both, neither]).toEqual([1, 0])
    expect(company).toBeGreaterThan(0)
    expect(company).toBeLessThan(1)
    // What all names have tells nothing.
    expect(year).toBeLessThan(company)
    expect(sharesOfNames('the 10K', documents.slice(0, 3))).toEqual([0, 0, 0])
    expect(sharesOfNames('3M', [['3M']])).toEqual([0])
    expect(sharesOfNames('', [[''], []])).toEqual([0, 0])
  })

  it('are found by any of the names of a copy', () => {
    expect(sharesOfNames('price list', [['scan 17', 'price list'], ['letter']])).toEqual([1, 0])
  })

  it('put the passages of the document that a question names before others', () => {
    const found = ranked('What did 3M earn in FY2018?', {
      'AMCOR 2022 10K': 0.9,
      '3M 2022 10K': 0.5,
      '3M 2018 10K': 0.43,
    })
    expect(found.map(({ id }) => id)).toEqual(['3M 2018 10K', 'AMCOR 2022 10K', '3M 2022 10K'])
    expect(found[0]).toMatchObject({ name: 1, score: expect.closeTo(0.62) })
    expect(found[1]).not.toHaveProperty('name')
    expect(found.every(({ score }) => score >= 0 && score <= 1)).toBe(true)
  })

  it('leave the order where a word of the question happens to be in a name', () => {
    const scores = { '3M 2018 10K': 0.5, 'AMCOR 2022 10K': 0.45, 'French and Indian War': 0.35 }
    const found = ranked('Wie hoch war der Umsatz?', scores)
    expect(found.map(({ id }) => id)).toEqual(Object.keys(scores))
  })

  it('leave scores as they are where no name is in the question', () => {
    const matches = matchesOf({ '3M 2018 10K': 0.5, 'AMCOR 2022 10K': 0.4 })
    expect(rankByNames('Who is the auditor?', matches, namesOf)).toBe(matches)
  })
})
