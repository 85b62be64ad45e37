import { expect, it } from 'vitest'
import type { EnqueueRun } from '../../domain/contracts/thread.ts'
import { ThreadQueue } from '../../workflows/thread-queue.ts'

const run = (runId: string, strategy: EnqueueRun['strategy'] = 'enqueue'): EnqueueRun => ({ runId, strategy })

function started(runId: string) {
  const current = {
    run: { runId, step: 0 },
    isCancelled: false,
    scope: { cancel: () => void (current.isCancelled = true) },
  }
  return current
}
type Started = ReturnType<typeof started>

/** The runs in the order of their turns; `-`: cancelled before. */
function rest(queue: ThreadQueue<Started>): string[] {
  const all: string[] = []
  for (let next = queue.next(); next !== undefined; next = queue.next())
    all.push(`${next.isCancelled ? '-' : ''}${next.run.runId}`)
  return all
}

it('gives runs their turns in the order of their ids, each once', () => {
  const queue = new ThreadQueue<Started>(undefined, run('b'), undefined)
  for (const id of ['d', 'c', 'b', 'd', 'a']) queue.enqueue(run(id))
  expect(rest(queue)).toEqual(['a', 'b', 'c', 'd'])
  expect(queue.isEmpty).toBe(true)
})

it('cancels older runs for one that interrupts, also those that arrive later', () => {
  const queue = new ThreadQueue<Started>(undefined, undefined, undefined)
  const current = started('a')
  queue.begin(current)
  queue.enqueue(run('b'))
  queue.enqueue(run('d', 'interrupt'))
  queue.enqueue(run('c'))
  queue.enqueue(run('e'))
  expect(current.isCancelled).toBe(true)
  expect(rest(queue)).toEqual(['-b', '-c', 'd', 'e'])
})

it('cancels the current run, one that waits, and none that is not known', () => {
  const current = started('a')
  const queue = new ThreadQueue(undefined, run('b'), current)
  queue.cancel('z')
  expect(current.isCancelled).toBe(false)
  queue.cancel('a')
  queue.cancel('b')
  expect(current.isCancelled).toBe(true)
  expect(rest(queue)).toEqual(['-b'])
})

it('is busy for others than those that it has', () => {
  const queue = new ThreadQueue(undefined, undefined, started('a'))
  expect(['a', 'b'].map((id) => queue.isBusyFor(id))).toEqual([false, true])
  queue.current = undefined
  expect(queue.isBusyFor('b')).toBe(false)
})

it('cancels everything when it is closed', () => {
  const current = started('a')
  const queue = new ThreadQueue(undefined, run('b'), current)
  queue.close()
  queue.enqueue(run('c'))
  expect([current.isCancelled, queue.isClosed, rest(queue)]).toEqual([true, true, ['-b', '-c']])
})

it('goes on with what an execution before it has passed on', () => {
  const before = new ThreadQueue(undefined, undefined, started('a'))
  before.enqueue(run('b', 'interrupt'))
  before.enqueue(run('c'))
  before.cancel('c')
  before.change('a', (current) => (current.resumedStep = 2))
  before.change('b', (current) => (current.resumedStep = 3))
  const carried = before.state(true)
  expect(carried.current).toEqual({ runId: 'a', step: 0, resumedStep: 2 })
  const current = started('a')
  const after = new ThreadQueue(carried, undefined, current)
  after.begin(current)
  expect(current.isCancelled).toBe(true)
  after.enqueue(run('aa'))
  expect(rest(after)).toEqual(['-aa', 'b', '-c'])
})
