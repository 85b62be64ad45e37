import { describe, expect, it } from 'vitest'
import type { Message } from '../../domain/messages.ts'
import { createAttempts } from '../../services/engine/attempts.ts'
import { SupersededError } from '../../services/engine/run-writer.ts'
import { runAttempt } from './run-attempt.ts'

function attempts() {
  let time = 1
  const created = createAttempts({ clock: () => time })
  return {
    ...created,
    pause: (id: string, step = 1, results?: (Message | undefined)[]) =>
      created.pause({ ...runAttempt(id), step, usages: [], results }),
    pass: (ms: number) => {
      time += ms
    },
  }
}

describe('attempts', () => {
  it('stop when a newer one takes the run', () => {
    const { begin, supersede } = attempts()
    const stopped: unknown[] = []
    const end = begin({ ...runAttempt('a').run, fence: 2 }, (reason) => stopped.push(reason))
    supersede('a', 2)
    supersede('b', 3)
    expect(stopped).toEqual([])
    supersede('a', 3)
    expect(stopped).toEqual([expect.any(SupersededError)])
    end()
    supersede('a', 4)
    expect(stopped).toHaveLength(1)
  })

  it('are continued once, by the next step', () => {
    const { pause, between, resume } = attempts()
    pause('a')
    expect(between('a')?.run._id).toBe('a')
    expect(resume('a', 1)?.assistant._id).toBe('assistant')
    expect(resume('a', 1)).toBeUndefined()
    pause('b')
    expect(resume('b', 2)).toBeUndefined()
  })

  it('are forgotten after ten seconds, or when a newer one takes the run', () => {
    const { pause, between, resume, supersede, pass } = attempts()
    pause('a')
    pass(10_000)
    expect(between('a')).toBeDefined()
    pass(1)
    expect(between('a')).toBeUndefined()
    expect(resume('a', 1)).toBeUndefined()
    pause('b')
    supersede('b', 2)
    expect(resume('b', 1)).toBeUndefined()
  })

  it('know when all tools before the next step have been called here, each once, and their results', () => {
    const { pause, noteCall, resume } = attempts()
    const result = (id: string): Message => ({
      type: 'ToolMessage',
      data: { id, content: 'Sunny.', tool_call_id: 'call', name: 'weather' },
    })
    expect(noteCall({ runId: 'a', step: 0, index: 0 }, result('0'))).toBe(false)
    // The third was refused.
    pause('a', 1, [undefined, undefined, result('refused')])
    const calls = [
      { runId: 'a', step: 1, index: 0 },
      { runId: 'a', step: 0, index: 0 },
      { runId: 'a', step: 0, index: 0 },
      { runId: 'a', step: 0, index: 2 },
      { runId: 'a', step: 0, index: 3 },
      { runId: 'a', step: 0, index: 1 },
      { runId: 'a', step: 0, index: 1 },
    ]
    const noted = calls.map((call, place) => noteCall(call, result(`result ${place}`)))
    expect(noted).toEqual([false, false, false, false, false, true, false])
    expect(resume('a', 1)?.results?.map((message) => message?.data.id)).toEqual(['result 1', 'result 5', 'refused'])
    // No step may follow.
    pause('b')
    expect(noteCall({ runId: 'b', step: 0, index: 0 }, result('0'))).toBe(false)
  })

  it('make their thread busy until its workflow has had time to end', () => {
    const { begin, isBusy, pause, resume, pass } = attempts()
    const { run } = runAttempt('a')
    expect(isBusy(run.thread_id)).toBe(false)
    const end = begin(run, () => {})
    expect(isBusy(run.thread_id)).toBe(true)
    expect(isBusy('another')).toBe(false)
    pause('a')
    end()
    pass(1000)
    expect(isBusy(run.thread_id)).toBe(true)
    resume('a', 1)
    expect(isBusy(run.thread_id)).toBe(false)
    begin(run, () => {})()
    expect(isBusy(run.thread_id)).toBe(true)
    pass(501)
    expect(isBusy(run.thread_id)).toBe(false)
  })

  it('wait in a limited number', () => {
    const { pause, between } = attempts()
    for (let index = 0; index <= 1000; index++) pause(`run ${index}`)
    expect(between('run 0')).toBeUndefined()
    expect(between('run 1')).toBeDefined()
    expect(between('run 1000')).toBeDefined()
  })
})
