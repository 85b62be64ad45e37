import type { FastifyRequest } from 'fastify'
import { afterEach, expect, test, vi } from 'vitest'
import { watchAccess } from '../../api/sse/watch-access.ts'
import { AppError } from '../../domain/errors.ts'

afterEach(() => vi.useRealTimers())

const session = (role: string, holderId = 'holder', isShared = false) => ({
  user: { _id: 'member' },
  holderId,
  projectId: 'p',
  role,
  isShared,
})

function followed(answers: (object | Error)[], first = session('viewer')) {
  vi.useFakeTimers()
  const open = vi.fn<() => Promise<object>>(async () => {
    const answer = answers.shift() ?? first
    if (answer instanceof Error) throw answer
    return answer
  })
  const stop = vi.fn<() => void>()
  const request = {
    session: first,
    headers: { authorization: 'Bearer t' },
    routeOptions: { config: { role: 'viewer' } },
  } as unknown as FastifyRequest
  const unwatch = watchAccess(request, { sessions: { open } as never }, stop)
  return { open, stop, unwatch }
}

test('a stream ends when its reader is removed, and not when the database is away', async () => {
  const { stop, open } = followed([
    session('viewer'),
    new Error('away'),
    new AppError('unavailable', 'away'),
    new AppError('forbidden', 'removed'),
  ])
  await vi.advanceTimersByTimeAsync(35_000)
  expect(stop).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(stop).toHaveBeenCalledOnce()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(open).toHaveBeenCalledTimes(4)
})

test('the stream of a project that he shared ends when it was given away and he was removed', async () => {
  const { stop } = followed([new AppError('forbidden', 'removed')], session('owner', 'member', true))
  await vi.advanceTimersByTimeAsync(10_000)
  expect(stop).toHaveBeenCalledOnce()
})

test('the stream of an own project is not watched, and none that has ended', async () => {
  const own = followed([], session('owner', 'member'))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(own.open).not.toHaveBeenCalled()
  const ended = followed([])
  ended.unwatch()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(ended.open).not.toHaveBeenCalled()
})
