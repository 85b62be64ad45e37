import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createDownloads, downloadLimits } from '../../services/attachments/downloads.ts'

const mebibyte = 1024 * 1024
const url = 'https://pictures.example/a.png'

/** A server whose answers a test sends piece by piece. */
function scriptedServer() {
  const open: { send(bytes: number): void; end(): void; signal: AbortSignal }[] = []
  const fetch = async (_input: string | URL | Request, { signal }: RequestInit = {}) => {
    const body = new TransformStream<Uint8Array, Uint8Array>()
    const writer = body.writable.getWriter()
    const ignored = () => undefined
    signal?.addEventListener('abort', () => writer.abort(signal.reason).catch(ignored), { once: true })
    open.push({
      send: (bytes) => void writer.write(new Uint8Array(bytes)).catch(ignored),
      end: () => void writer.close().catch(ignored),
      signal: signal ?? new AbortController().signal,
    })
    return new Response(body.readable)
  }
  return { open, downloads: createDownloads({ fetchWith: () => fetch }) }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await nextTurn()
}

describe('downloads of pictures', () => {
  beforeEach(
    () =>
      void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] }),
  )
  afterEach(() => void vi.useRealTimers())

  const one = (downloads: ReturnType<typeof createDownloads>, owner: string, maxBytes = mebibyte) =>
    downloads.within(owner, (download) => download(url, { maxBytes, loc: ['query', 'url'] }))

  it('are four at once for one owner and 64 in all, and others wait for their turn', async () => {
    const { open, downloads } = scriptedServer()
    const read = ['hog', ...Array.from({ length: 20 }, (_, index) => `user ${index}`)].flatMap((owner) =>
      Array.from({ length: 30 }, () => one(downloads, owner)),
    )
    await settled()
    expect(open).toHaveLength(64)
    let ended = 0
    for (; ended < open.length; ended++) {
      expect(open.length - ended).toBeLessThanOrEqual(64)
      open[ended]?.send(10)
      open[ended]?.end()
      await settled()
    }
    expect(ended).toBe(read.length)
    expect(new Set((await Promise.all(read)).map(({ length }) => length))).toEqual(new Set([10]))
    const own = Array.from({ length: 9 }, () => one(downloads, 'hog'))
    await settled()
    expect(open.length - ended).toBe(downloadLimits.slotsPerOwner)
    for (; ended < open.length; ended++) {
      open[ended]?.end()
      await settled()
    }
    await Promise.all(own)
  })

  it('hold the slot and the bytes of a request until its work ends', async () => {
    const { open, downloads } = scriptedServer()
    const gate = Promise.withResolvers<void>()
    const holding = Array.from({ length: 20 }, (_, index) =>
      downloads.within(`user ${index}`, async (download) => {
        const bytes = await download(url, { maxBytes: 8 * mebibyte, loc: [] })
        await gate.promise
        return bytes.length
      }),
    )
    await settled()
    const most = downloadLimits.bytesAtOnce / (8 * mebibyte)
    expect(open).toHaveLength(most)
    // A full picture frees nothing while its request is under way; a small one frees what it did not need.
    open[0]?.send(8 * mebibyte)
    open[0]?.end()
    await settled()
    expect(open).toHaveLength(most)
    open[1]?.send(100)
    open[1]?.end()
    await settled()
    expect(open).toHaveLength(most)
    for (const { end } of open.slice(2)) end()
    await settled()
    expect(open).toHaveLength(20)
    for (const { end } of open) end()
    gate.resolve()
    expect(await Promise.all(holding)).toContain(8 * mebibyte)
  })

  it('of one request never wait for its own bytes', async () => {
    const { open, downloads } = scriptedServer()
    const requests = Array.from({ length: 16 }, (_, index) =>
      downloads.within(`user ${index}`, async (download) => {
        for (let picture = 0; picture < 2; picture++) await download(url, { maxBytes: 8 * mebibyte, loc: [] })
      }),
    )
    for (let ended = 0; ended < 32; ended++) {
      await settled()
      open[ended]?.send(8 * mebibyte)
      open[ended]?.end()
    }
    await Promise.all(requests)
    expect(open).toHaveLength(32)
  })

  it('end when the server sends less than the least rate, and not before', async () => {
    const { open, downloads } = scriptedServer()
    const slow = one(downloads, 'user')
    const refusal = slow.catch((error: unknown) => error)
    const expected = {
      code: 'invalid_input',
      fields: [{ loc: ['query', 'url'], type: 'unreachable', msg: expect.stringMatching(/too slowly/) }],
    }
    await settled()
    open[0]?.send(downloadLimits.leastBytes)
    await settled()
    await vi.advanceTimersByTimeAsync(downloadLimits.windowMs)
    expect(open[0]?.signal.aborted).toBe(false)
    open[0]?.send(1000)
    await settled()
    await vi.advanceTimersByTimeAsync(downloadLimits.windowMs)
    expect(await refusal).toMatchObject(expected)
    const next = one(downloads, 'user')
    await settled()
    open[1]?.end()
    expect((await next).length).toBe(0)
  })

  it('are refused when too many requests of one owner wait', async () => {
    const { open, downloads } = scriptedServer()
    const all = Array.from({ length: downloadLimits.slotsPerOwner + downloadLimits.waitingPerOwner }, () =>
      one(downloads, 'hog'),
    )
    await settled()
    await expect(one(downloads, 'hog')).rejects.toMatchObject({ code: 'too_many_requests', retryAfterSeconds: 10 })
    for (let ended = 0; ended < all.length; ended++) {
      open[ended]?.end()
      await settled()
    }
    await Promise.all(all)
    expect(open).toHaveLength(all.length)
  })
})
