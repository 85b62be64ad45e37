import { describe, expect, it } from 'vitest'
import { threadContract } from '../../domain/contracts/thread.ts'
import { compareIds, eventIdOf } from '../../domain/ids.ts'
import type { Message } from '../../domain/messages.ts'
import { type RunEntry, applyEntries, emptyView, toMessage } from '../../domain/run-events.ts'
import { completeView } from '../../services/runs/run-snapshot.ts'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'
import type { ServerEvent } from '../support/sse.ts'
import { conversation } from './support.ts'

describe('resuming a run', () => {
  const service = useSharedService()

  it('gives the events after each id; after the last state only the end, and after the end the end again', async () => {
    const talk = await conversation(service)
    service.model.reply({ text: ['One ', 'two ', 'three'] })
    const run = await talk.stream('Count')
    expectIncreasing(run.events)
    for (const [index, event] of run.events.entries()) {
      const rest = await talk.join(run.runId, event.id)
      expect(rest.end, `after event ${index}`).toBe('end')
      expectIncreasing(index < run.events.length - 1 ? [event, ...rest.events] : rest.events)
      expect(rest.events.some(({ event: name }) => name === 'start')).toBe(false)
      expect(rest.events.filter(({ event: name }) => name === 'metadata')).toHaveLength(index === 0 ? 1 : 0)
      const isBeforeLastState = index < run.events.length - 2
      expect(rest.messages.map(({ data }) => data.content)).toEqual(isBeforeLastState ? ['One two three'] : [])
    }
    for (const event of run.events.slice(-2))
      expect((await talk.join(run.runId, event.id)).events).toEqual([run.events.at(-1)])
    const whole = await talk.join(run.runId)
    expect(whole.events.map(({ event }) => event)).toEqual(['start', 'metadata', 'data', 'end'])
    expectIncreasing(whole.events)
  })

  it('works from the database when the stream has expired: the whole state once, after the last state only the end', async () => {
    const talk = await conversation(service)
    service.model.reply({ text: 'Kept' })
    const run = await talk.stream('Say')
    await service.redis.del(`run:{${run.runId}}:stream`)
    for (const position of [undefined, '0-1', '0-2']) {
      const rest = await talk.join(run.runId, position)
      expect(rest.end).toBe('end')
      expect(rest.messages.map(({ data }) => data.content)).toEqual(['Kept'])
      expectIncreasing(rest.events)
      const restored = rest.events.at(-2)
      expect((await talk.join(run.runId, restored?.id)).events).toEqual([rest.events.at(-1)])
    }
    for (const event of run.events.slice(-2))
      expect((await talk.join(run.runId, event.id)).events).toEqual([run.events.at(-1)])
  })

  it('gives only the error after the last state of a run that failed or was cancelled, also without the stream', async () => {
    const isInStream = (runId: string) =>
      eventually('text in the stream', async () =>
        JSON.stringify(await service.redis.xRange(`run:{${runId}}:stream`, '-', '+')).includes('Some '),
      )
    const failed = await conversation(service)
    const broken = Promise.withResolvers<void>()
    service.model.reply({ text: ['Some ', broken.promise], breakConnection: true })
    service.model.reply({ status: 400 })
    const failing = await failed.start('Fail')
    const joinedFailing = failed.join(failing.run_id)
    await isInStream(failing.run_id)
    broken.resolve()
    const failedRun = { ...(await joinedFailing), runId: failing.run_id }

    const cancelled = await conversation(service)
    const reply = service.model.reply({ text: ['Some ', new Promise<never>(() => {})] })
    const started = await cancelled.start('Cancel')
    const joined = cancelled.join(started.run_id)
    await reply.arrived
    await isInStream(started.run_id)
    await cancelled.client.post(`/runs/${started.run_id}/cancel`)
    const cancelledRun = { ...(await joined), runId: started.run_id }
    await eventually('the run to be settled', async () => (await cancelled.messages()).length === 2)
    await service.temporal.workflow.getHandle(threadContract.id({ threadId: cancelled.threadId })).result()

    for (const [talk, run] of [
      [failed, failedRun],
      [cancelled, cancelledRun],
    ] as const) {
      expect(run.events.map(({ event }) => event)).toEqual(['start', 'metadata', 'data', 'error'])
      expectIncreasing(run.events)
      for (const withStream of [true, false]) {
        if (!withStream) await service.redis.del(`run:{${run.runId}}:stream`)
        for (const [index, event] of run.events.slice(-2).entries()) {
          const rest = await talk.join(run.runId, event.id)
          expect(rest.events, `stream: ${withStream}`).toMatchObject([
            { event: 'error', data: run.events.at(-1)?.data },
          ])
          if (index === 0) expectIncreasing([event, ...rest.events])
        }
      }
      const whole = await talk.join(run.runId)
      expect(whole.messages.map(({ data }) => data.content)).toEqual(['Some '])
      expectIncreasing(whole.events)
    }
  })

  it('continues after a decision that took longer than the stream is kept', async () => {
    const talk = await conversation(service, {
      'type==agent/tools': [{ type: 'http_request' }],
      'type==agent/interrupt_before_action': true,
    })
    service.model.reply({
      text: 'May I?',
      toolCalls: [{ id: 'c1', name: 'http_request', arguments: { method: 'GET', url: 'http://127.0.0.1:1/' } }],
    })
    const run = await talk.stream('Ask')
    expectIncreasing(run.events)
    await service.redis.del(`run:{${run.runId}}:stream`)
    for (const event of run.events.slice(-2))
      expect((await talk.join(run.runId, event.id)).events).toEqual([run.events.at(-1)])

    service.model.reply({ text: 'Then not.' })
    await talk.client.post(`/runs/${run.runId}/resume`, { action: 'reject' })
    const rest = await talk.join(run.runId, run.events.at(-1)?.id)
    expect(rest.end).toBe('end')
    expect(rest.messages.at(-1).data.content).toBe('Then not.')
    expectIncreasing([...run.events, ...rest.events])
  })

  it('gives a late reader the error of a failed run, also without the stream', async () => {
    const talk = await conversation(service)
    service.model.reply({ status: 400 })
    const run = await talk.stream('Fail')
    await service.redis.del(`run:{${run.runId}}:stream`)
    expect((await talk.join(run.runId)).error).toEqual(run.error)
  })
})

describe('the fold of a stream', () => {
  const text = (value: string): RunEntry => ({ type: 'text', id: 'm', text: value })
  const whole: Message = { type: 'AIMessage', data: { id: 'm', content: 'whole' } }

  it('skips entries that were folded, and restarts a message that begins again', () => {
    const view = emptyView()
    applyEntries(view, '1-0', [{ type: 'open' }, { type: 'begin', id: 'm' }, text('Hel')])
    applyEntries(view, '1-0', [text('Hel')])
    applyEntries(view, '2-0', [text('lo')])
    expect([...view.messages.values()].map(toMessage)).toEqual([
      { type: 'AIMessage', data: { id: 'm', content: 'Hello' } },
    ])
    applyEntries(view, '3-0', [{ type: 'begin', id: 'm' }, text('Anew')])
    expect([...view.messages.values()].map((message) => toMessage(message).data.content)).toEqual(['Anew'])
  })

  it('shows incomplete arguments as the object so far', () => {
    const view = emptyView()
    const shown: unknown[] = []
    const pieces = ['{"city": "Ber', 'lin", "days": [1, 2', '], "unit": "C"}']
    applyEntries(view, '1-0', [{ type: 'open' }, { type: 'begin', id: 'm' }])
    for (const [index, args] of pieces.entries()) {
      applyEntries(view, `${index + 2}-0`, [{ type: 'call', id: 'm', index: 0, call_id: 'c', name: 'weather', args }])
      const [message] = [...view.messages.values()].map(toMessage)
      shown.push(message?.type === 'AIMessage' ? message.data.tool_calls?.[0]?.args : undefined)
    }
    expect(shown).toEqual([
      { city: 'Ber' },
      { city: 'Berlin', days: [1, 2] },
      { city: 'Berlin', days: [1, 2], unit: 'C' },
    ])
  })

  it('does not show pieces of a message whose beginning was trimmed, until it arrives whole', () => {
    const view = emptyView()
    applyEntries(view, '5-0', [text('lo')])
    expect(view.messages.size).toBe(0)
    expect(view.complete).toBe(false)
    applyEntries(view, '6-0', [{ type: 'message', message: whole }])
    expect([...view.messages.values()].map(toMessage)).toEqual([whole])
  })

  it('takes stored messages from the database, and keeps messages that are being written', () => {
    const view = emptyView()
    applyEntries(view, '5-0', [
      { type: 'begin', id: 'later' },
      { type: 'text', id: 'later', text: 'now' },
    ])
    completeView(view, { messages: [whole], terminal: undefined, lastDataEventId: undefined })
    expect([...view.messages.values()].map((message) => toMessage(message).data.content)).toEqual(['whole', 'now'])
    const before = view.at
    completeView(view, { messages: [whole], terminal: { type: 'end' }, lastDataEventId: undefined })
    expect(view.terminal).toEqual({ type: 'end' })
    expect(compareIds(view.at, before)).toBeGreaterThan(0)
  })

  it('shows messages from the database to a reader who has seen the newest entry', () => {
    const view = emptyView()
    applyEntries(view, '5-0', [{ type: 'begin', id: 'later' }])
    const seen = view.at
    completeView(view, { messages: [whole], terminal: undefined, lastDataEventId: undefined })
    expect([...view.messages.values()].filter(({ changedAt }) => compareIds(changedAt, seen) > 0)).toHaveLength(1)
    applyEntries(view, '5-1', [text('!')])
    expect(compareIds(eventIdOf('5-1', 'data'), seen)).toBeGreaterThan(0)
    expect(view.lastId).toBe('5-1')
  })
})

/** Ids of one stream increase strictly. */
function expectIncreasing(events: ServerEvent[]): void {
  const ids = events.map(({ id }) => id ?? '')
  for (const [index, id] of ids.slice(1).entries())
    expect(compareIds(ids[index] ?? '', id), `${ids[index]} comes before ${id}`).toBeLessThan(0)
}
