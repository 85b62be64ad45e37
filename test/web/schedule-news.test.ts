import { expect, it } from 'vitest'
import { newsOf } from '../../web/src/lib/schedule-outcomes.ts'

type Status = Parameters<typeof newsOf>[0][number]['status']

it('tells what came since the last look, but not what a person started or what is under way', () => {
  const runs = [
    run('new', 'running'),
    run('mine', 'success', true),
    run('refused', 'refused'),
    run('asks', 'interrupted'),
    run('done', 'success'),
    run('stopped', 'cancelled'),
    run('old', 'success'),
  ]
  const { found, open } = newsOf(runs, 5)
  expect(open).toBe(1)
  expect(found.map(({ run_id: id, outcome, thread_id: thread }) => [id, outcome, thread])).toEqual([
    ['refused', 'failed', undefined],
    ['asks', 'waits', 'thread of asks'],
    ['done', 'answered', 'thread of done'],
  ])
})

const run = (id: string, status: Status, triggered = false) => ({
  schedule_id: 's',
  run_id: id,
  thread_id: `thread of ${id}`,
  due_at: '2026-01-01T00:00:00.000Z',
  triggered,
  status,
  finished_at: null,
  error: null,
  created_at: '2026-01-01T00:00:00.000Z',
})
