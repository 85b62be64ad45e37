import { describe, expect, it, vi } from 'vitest'
import { type Transfer, createTransfers } from '../../services/transfers.ts'
import { useFakeTimers } from '../support/fake-timers.ts'

const here = new AbortController().signal
const megabyte = 1_000_000

describe('transfers', () => {
  useFakeTimers()

  /** A client that takes these bytes every second. */
  const drip = (transfer: Transfer, bytesPerSecond: number) => {
    transfer.waits()
    const timer = setInterval(() => {
      transfer.moved(bytesPerSecond)
      transfer.waits()
    }, 1000)
    transfer.signal.addEventListener('abort', () => {
      clearInterval(timer)
      transfer.end()
    })
  }

  it('are one for each owner', async () => {
    const { open } = createTransfers({ slots: 2, name: 'import' })
    const first = await open('a', here)
    await expect(open('a', here)).rejects.toThrow(/An import of this account is under way/)
    await open('b', here)
    first.end()
    await open('a', here)
  })

  it('end when the client makes hardly any progress for a minute', async () => {
    const { open } = createTransfers({ slots: 8, name: 'export' })
    const [silent, dripping, slow] = [await open('a', here), await open('b', here), await open('c', here)]
    silent.waits()
    drip(dripping, 100)
    drip(slow, 2000)
    await vi.advanceTimersByTimeAsync(55_000)
    expect([silent, dripping, slow].map(({ signal }) => signal.aborted)).toEqual([false, false, false])
    await vi.advanceTimersByTimeAsync(15_000)
    expect([silent, dripping, slow].map(({ signal }) => signal.aborted)).toEqual([true, true, false])
    expect(silent.signal.reason).toMatchObject({ code: 'request_timeout' })
    await vi.advanceTimersByTimeAsync(600_000)
    expect(slow.signal.aborted).toBe(false)
  })

  it('do not count the time that the service takes', async () => {
    const { open } = createTransfers({ slots: 1, name: 'export' })
    const transfer = await open('a', here)
    transfer.waits()
    transfer.moved(1)
    await vi.advanceTimersByTimeAsync(600_000)
    expect(transfer.signal.aborted).toBe(false)
  })

  it('make room for as many as wait when they are slow, the slowest first', async () => {
    const { open } = createTransfers({ slots: 3, name: 'export' })
    const [fast, slow, slowest] = [await open('a', here), await open('b', here), await open('c', here)]
    drip(fast, megabyte)
    drip(slow, 20_000)
    drip(slowest, 10_000)
    await vi.advanceTimersByTimeAsync(30_000)
    const entered: string[] = []
    void open('d', here).then(() => entered.push('d'))
    await vi.advanceTimersByTimeAsync(15_000)
    expect(entered).toEqual(['d'])
    expect([fast, slow, slowest].map(({ signal }) => signal.aborted)).toEqual([false, false, true])
    void open('e', here).then(() => entered.push('e'))
    await vi.advanceTimersByTimeAsync(15_000)
    expect(entered).toEqual(['d', 'e'])
    expect(fast.signal.aborted).toBe(false)
  })

  it('are waited for in order, for a minute at most, and not by clients that have gone', async () => {
    const { open } = createTransfers({ slots: 1, name: 'import' })
    const first = await open('a', here)
    const gone = new AbortController()
    const leaves = open('b', gone.signal)
    const entered: string[] = []
    const later = ['c', 'd'].map(async (owner) => {
      const transfer = await open(owner, here)
      entered.push(owner)
      return transfer
    })
    gone.abort()
    await expect(leaves).rejects.toMatchObject({ code: 'cancelled' })
    first.end()
    await vi.advanceTimersByTimeAsync(0)
    expect(entered).toEqual(['c'])
    const refusal = later[1]?.catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(61_000)
    expect(await refusal).toMatchObject({ code: 'too_many_requests', retryAfterSeconds: 30 })
    await later[0]?.then((transfer) => transfer.end())
    // An owner that was refused may try again.
    await open('d', here)
  })
})
