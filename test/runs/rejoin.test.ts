import { describe, expect, it } from 'vitest'
import type { Message } from '../../domain/messages.ts'
import { type RunEntry, applyEntries, emptyView, shownMessage } from '../../domain/run-events.ts'
import { completeView } from '../../services/runs/run-feeds.ts'
import { useModelService } from '../support/model-service.ts'
import { conversation } from './support.ts'

describe('coming back to a run', () => {
  const service = useModelService()

  it('gives what follows each event, and after the last one that one again', async () => {
    const talk = await conversation(service)
    service.model.reply({ text: ['One ', 'two ', 'three'] })
    const run = await talk.stream('Count')
    for (const [index, event] of run.events.entries()) {
      const rest = await talk.join(run.runId, event.id)
      expect(rest.end, `after event ${index}`).toBe('end')
      expect(rest.events.some(({ event: name }) => name === 'start')).toBe(false)
      expect(rest.events.filter(({ event: name }) => name === 'metadata')).toHaveLength(index === 0 ? 1 : 0)
      const isBeforeLastState = index < run.events.length - 2
      expect(!isBeforeLastState || rest.messages.at(-1).data.content === 'One two three', `event ${index}`).toBe(true)
    }
    expect((await talk.join(run.runId, run.events.at(-1)?.id)).events).toEqual([run.events.at(-1)])
    const whole = await talk.join(run.runId)
    expect(whole.events.map(({ event }) => event)).toEqual(['start', 'metadata', 'data', 'end'])
  })

  it('works from the database when the stream is gone: everything once, for any position', async () => {
    const talk = await conversation(service)
    service.model.reply({ text: 'Kept' })
    const run = await talk.stream('Say')
    await service.redis.del(`run:{${run.runId}}:stream`)
    for (const position of [undefined, '0-2', run.events.at(-2)?.id]) {
      const rest = await talk.join(run.runId, position)
      expect(rest.end).toBe('end')
      expect(rest.messages.map(({ data }) => data.content)).toEqual(['Kept'])
    }
  })

  it('tells a late reader how a failed run ended, also without the stream', async () => {
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

  it('passes over what it has seen, and starts anew when a message begins again', () => {
    const view = emptyView()
    applyEntries(view, '1-0', [{ type: 'open' }, { type: 'begin', id: 'm' }, text('Hel')])
    applyEntries(view, '1-0', [text('Hel')])
    applyEntries(view, '2-0', [text('lo')])
    expect([...view.messages.values()].map(shownMessage)).toEqual([
      { type: 'AIMessage', data: { id: 'm', content: 'Hello' } },
    ])
    applyEntries(view, '3-0', [{ type: 'begin', id: 'm' }, text('Anew')])
    expect([...view.messages.values()].map((message) => shownMessage(message).data.content)).toEqual(['Anew'])
  })

  it('shows of growing arguments the object so far', () => {
    const view = emptyView()
    const shown: unknown[] = []
    const pieces = ['{"city": "Ber', 'lin", "days": [1, 2', '], "unit": "C"}']
    applyEntries(view, '1-0', [{ type: 'open' }, { type: 'begin', id: 'm' }])
    for (const [index, args] of pieces.entries()) {
      applyEntries(view, `${index + 2}-0`, [{ type: 'call', id: 'm', index: 0, call_id: 'c', name: 'weather', args }])
      const [message] = [...view.messages.values()].map(shownMessage)
      shown.push(message?.type === 'AIMessage' ? message.data.tool_calls?.[0]?.args : undefined)
    }
    expect(shown).toEqual([
      { city: 'Ber' },
      { city: 'Berlin', days: [1, 2] },
      { city: 'Berlin', days: [1, 2], unit: 'C' },
    ])
  })

  it('does not show pieces of a message whose beginning was cut, until it comes whole', () => {
    const view = emptyView()
    applyEntries(view, '5-0', [text('lo')])
    expect(view.messages.size).toBe(0)
    expect(view.complete).toBe(false)
    applyEntries(view, '6-0', [{ type: 'message', message: whole }])
    expect([...view.messages.values()].map(shownMessage)).toEqual([whole])
  })

  it('takes from the database what is stored, and lets what is being written stand', () => {
    const view = emptyView()
    applyEntries(view, '5-0', [
      { type: 'begin', id: 'later' },
      { type: 'text', id: 'later', text: 'now' },
    ])
    completeView(view, { messages: [whole], terminal: undefined, changedAtMs: 4 })
    expect([...view.messages.values()].map((message) => shownMessage(message).data.content)).toEqual(['whole', 'now'])
    completeView(view, { messages: [whole], terminal: { type: 'end' }, changedAtMs: 9 })
    expect(view.terminal).toEqual({ at: '9-0', event: { type: 'end' } })
  })
})
