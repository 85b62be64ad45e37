import { describe, expect, it } from 'vitest'
import { createInTurn } from '../../services/in-turn.ts'

describe('inTurn', () => {
  it('runs the work of a key one at a time, in order, and continues after a failure', async () => {
    const inTurn = createInTurn()
    const seen: string[] = []
    const gate = Promise.withResolvers<void>()
    const first = inTurn('a', async () => {
      await gate.promise
      seen.push('first')
      throw new Error('the first fails')
    })
    const second = inTurn('a', async () => seen.push('second'))
    const third = inTurn('a', async () => seen.push('third'))
    await inTurn('b', async () => seen.push('another key'))
    expect(seen).toEqual(['another key'])
    gate.resolve()
    await expect(first).rejects.toThrow('the first fails')
    await Promise.all([second, third])
    expect(seen).toEqual(['another key', 'first', 'second', 'third'])
  })
})
