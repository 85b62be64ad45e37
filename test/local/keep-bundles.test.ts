import { mkdtemp, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { keepBundles } from '../../local/keep-bundles.ts'
import { eventually } from '../support/eventually.ts'

afterEach(() => vi.useRealTimers())

it('marks the bundles of running processes as used once a day, and no other', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const longAgo = new Date(Date.now() - 6 * 24 * 3_600_000)
  const [running, other] = await Promise.all(
    ['running', 'other'].map((name) => mkdtemp(path.join(tmpdir(), `assistant-bundle-${name}-`))),
  )
  if (running === undefined || other === undefined) throw new Error('no folders')
  try {
    await Promise.all([running, other].map((folder) => utimes(folder, longAgo, longAgo)))
    const used = keepBundles()
    expect(used(path.join(running, 'api.mjs'))).toBe(path.join(running, 'api.mjs'))
    expect(used('api/server.ts')).toBe('api/server.ts')
    used('/no/such/folder/api.mjs')
    vi.advanceTimersByTime(24 * 3_600_000)
    await eventually('the mark', async () => (await stat(running)).mtimeMs > longAgo.getTime() + 1000)
    expect((await stat(other)).mtimeMs).toBeLessThan(longAgo.getTime() + 1000)
  } finally {
    await Promise.all([running, other].map((folder) => rm(folder, { recursive: true })))
  }
})
