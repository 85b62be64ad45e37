import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, startDatabase } from './support.ts'
import { writeUntilKilled } from './write-until-killed.ts'

describe('kill -9 of the database of npm start', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await startDatabase()
  })
  afterAll(() => database.close())

  it('loses no acknowledged write, and leaves no transaction half-applied', async () => {
    for (const round of [1, 2, 3]) {
      const { written, lost, halves } = await writeUntilKilled(database, { transactions: 40, beside: round === 3 })
      expect({ round, lost, halves }).toEqual({ round, lost: [], halves: [] })
      expect(written).toBeGreaterThanOrEqual(40)
    }
  })
})
