import { afterEach, expect, test, vi } from 'vitest'
import { collectEvery } from '../../infra/garbage.ts'

afterEach(() => vi.unstubAllGlobals())

test('garbage is collected each time that so many bytes were used', () => {
  const gc = vi.fn<(options: object) => void>()
  vi.stubGlobal('gc', gc)
  const noteUsed = collectEvery(100, 'major')
  for (let used = 0; used < 99; used += 33) noteUsed(33)
  expect(gc).not.toHaveBeenCalled()
  noteUsed(1)
  expect(gc).toHaveBeenCalledExactlyOnceWith({ type: 'major' })
  noteUsed(99)
  expect(gc).toHaveBeenCalledTimes(1)
  noteUsed(500)
  expect(gc).toHaveBeenCalledTimes(2)
})

test('a process without the option works without it', () => {
  vi.stubGlobal('gc', undefined)
  expect(() => collectEvery(1, 'minor')(2)).not.toThrow()
})
