import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type SemaphoreOptions, createSemaphore } from '../../services/semaphore.ts'

/** Notes which owners got a slot, in order; `leave` gives one of these slots back. */
function door(options: SemaphoreOptions) {
  const { acquire } = createSemaphore(options)
  const entered: string[] = []
  const releases: (() => void)[] = []
  const enter = async (owner: string, signal?: AbortSignal) => {
    const release = await acquire(owner, signal)
    if (release === undefined) return 'refused'
    entered.push(owner)
    releases.push(release)
    return 'entered'
  }
  const leave = async (index: number) => {
    releases[index]?.()
    await nextTurn()
  }
  return { entered, enter, leave }
}

describe('a semaphore', () => {
  it('gives out its slots in order, and refuses beyond the limit of waiting work', async () => {
    const { withSlot } = createSemaphore({ slots: 2, waitingPerOwner: 2 })
    const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>())
    const begun: number[] = []
    const works = gates.map((gate, index) =>
      withSlot(async () => {
        begun.push(index)
        await gate.promise
        return index
      }),
    )
    await expect(withSlot(async () => undefined)).rejects.toMatchObject({ code: 'unavailable' })
    expect(begun).toEqual([0, 1])
    gates[1]?.resolve()
    await works[1]
    await nextTurn()
    expect(begun).toEqual([0, 1, 2])
    for (const gate of gates) gate.resolve()
    expect(await Promise.all(works)).toEqual([0, 1, 2, 3])
    expect(await withSlot(async () => 'free again')).toBe('free again')
  })

  it('gives a slot back when the work fails', async () => {
    const { withSlot } = createSemaphore({ slots: 1, waitingPerOwner: 1 })
    await expect(withSlot(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
    expect(await withSlot(async () => 'next')).toBe('next')
  })

  it('never gives one owner more than its maximum of slots', async () => {
    const { enter, entered } = door({ slots: 3, slotsPerOwner: 2, waitingPerOwner: 5 })
    for (const owner of ['hog', 'hog', 'hog', 'hog']) void enter(owner)
    await nextTurn()
    expect(entered).toEqual(['hog', 'hog'])
    expect(await enter('bystander')).toBe('entered')
  })

  it('gives slots to the waiting owners in turn', async () => {
    const { enter, entered, leave } = door({ slots: 2, waitingPerOwner: 5 })
    for (const owner of ['a', 'a', 'a', 'a', 'a', 'b', 'b', 'c']) void enter(owner)
    await nextTurn()
    for (let index = 0; index < 6; index++) await leave(index)
    expect(entered).toEqual(['a', 'a', 'a', 'b', 'c', 'a', 'b', 'a'])
  })

  it('skips an owner with its maximum of slots', async () => {
    const { enter, entered, leave } = door({ slots: 3, slotsPerOwner: 2, waitingPerOwner: 5 })
    for (const owner of ['a', 'a', 'b', 'a', 'b']) void enter(owner)
    await nextTurn()
    await leave(2)
    expect(entered).toEqual(['a', 'a', 'b', 'b'])
    await leave(0)
    expect(entered).toEqual(['a', 'a', 'b', 'b', 'a'])
  })

  it('limits waiting work, of one owner and in total', async () => {
    const { enter } = door({ slots: 1, waiting: 3, waitingPerOwner: 2 })
    for (const owner of ['a', 'a', 'a']) void enter(owner)
    expect(await enter('a')).toBe('refused')
    void enter('b')
    expect(await enter('c')).toBe('refused')
  })

  it('drops waiters that abort, and releases a slot only once', async () => {
    const { enter, entered, leave } = door({ slots: 1, waiting: 3, waitingPerOwner: 1 })
    const stop = new AbortController()
    void enter('a')
    const gaveUp = enter('b', stop.signal)
    void enter('c')
    void enter('d')
    stop.abort(new Error('enough'))
    await expect(gaveUp).rejects.toThrow('enough')
    await expect(enter('b', stop.signal)).rejects.toThrow('enough')
    await leave(0)
    await leave(0)
    expect(entered).toEqual(['a', 'c'])
    void enter('b')
    await leave(1)
    await leave(2)
    expect(entered).toEqual(['a', 'c', 'd', 'b'])
  })
})
