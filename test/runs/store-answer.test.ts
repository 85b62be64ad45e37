import { describe, expect, it } from 'vitest'
import { AppError } from '../../domain/errors.ts'
import { AnswerNotStoredError, storeAnswer } from '../../services/runs/commit.ts'
import { SupersededError } from '../../services/runs/live-runs.ts'

/** Stores with a database that fails so many times. */
async function storing(error: unknown, times = Infinity) {
  const pauses: number[] = []
  let tries = 0
  const work = async () => {
    tries += 1
    if (tries <= times) throw error
    return 'stored'
  }
  const reported: unknown[] = []
  const outcome: unknown = await storeAnswer(work, {
    signal: new AbortController().signal,
    onError: (problem) => void reported.push(problem),
    wait: async (ms) => void pauses.push(ms),
  }).catch((failure: unknown) => failure)
  return { outcome, tries, pauses, reported }
}

describe('storing an answer', () => {
  it('is tried again when it fails', async () => {
    const { outcome, pauses, reported } = await storing(new Error('the database is away'), 3)
    expect(outcome).toBe('stored')
    expect(pauses).toEqual([200, 400, 800])
    expect(reported).toHaveLength(3)
  })

  it('is given up after a while, with an error that says that the model is not to be asked again', async () => {
    const cause = new RangeError('too many')
    const { outcome, tries, pauses } = await storing(cause)
    expect(outcome).toBeInstanceOf(AnswerNotStoredError)
    expect(outcome).toMatchObject({ cause })
    expect(tries).toBe(10)
    expect(Math.max(...pauses)).toBe(20_000)
  })

  it.each([new SupersededError(), new AppError('invalid_input', 'The thread is full.')])(
    'is not repeated where that changes nothing: %s',
    async (error) => {
      expect(await storing(error)).toMatchObject({ outcome: error, tries: 1 })
    },
  )
})
