import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { messageDeltas, wholeMessages } from '../../api/routes/runs/stream-run.ts'
import { metadataEventId } from '../../api/routes/runs/stream-run.ts'
import { type Message, type RunSnapshot, foldMessages, followRun } from '../../client/src/index.ts'
import { type RunEntry, type RunView, applyEntries, emptyView } from '../../domain/run-events.ts'
import { useSharedService } from '../support/shared-service.ts'
import { type ServerEvent, allEvents, readEvents } from '../support/sse.ts'
import { conversation } from './support.ts'

/** A reader in deltas mode: `look` sends it what is new and answers the messages that it then has. */
function deltaReader(view: RunView) {
  const changes = messageDeltas()
  let messages: Message[] = []
  let seen = metadataEventId
  let bytes = 0
  const types: string[] = []
  return {
    look() {
      const changed = changes(view, seen)
      if (changed.length > 0) seen = view.at
      bytes += Buffer.byteLength(JSON.stringify(changed))
      types.push(...changed.map(({ type }) => type))
      messages = foldMessages(messages, structuredClone(changed))
      return messages
    },
    bytes: () => bytes,
    types,
  }
}

const id = 'run-0'
const whole = (content: string): RunEntry => ({
  type: 'message',
  message: { type: 'AIMessage', data: { id, content } },
})
const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.string({ unit: 'binary', maxLength: 4 }))
const entry: fc.Arbitrary<RunEntry> = fc.oneof(
  { weight: 12, arbitrary: text.map((piece): RunEntry => ({ type: 'text', id, text: piece })) },
  {
    weight: 4,
    arbitrary: fc
      .record({ index: fc.nat(3), args: fc.string({ maxLength: 30 }) })
      .map(({ index, args }): RunEntry => ({ type: 'call', id, index, call_id: `call-${index}`, name: 'look', args })),
  },
  { weight: 1, arbitrary: fc.constant<RunEntry>({ type: 'begin', id }) },
  { weight: 1, arbitrary: text.map(whole) },
)

describe('messages by deltas', () => {
  it('fold to the whole messages, whatever a run writes and however often a reader reads', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ entry, looks: fc.boolean() }), { maxLength: 80 }), (steps) => {
        const view = emptyView()
        const reader = deltaReader(view)
        const everything = () => wholeMessages()(view, '0-0')
        let number = 0
        const apply = (written: RunEntry) => applyEntries(view, `1-${++number}`, [written])
        apply({ type: 'begin', id })
        for (const step of steps) {
          apply(step.entry)
          const [now] = everything()
          if (!step.looks || now === undefined) continue
          const [has] = reader.look()
          // Half of a character of two code units is held back.
          expect(now.data.content.replace(/[\ud800-\udbff]$/, '')).toBe(
            has?.data.content.replace(/[\ud800-\udbff]$/, ''),
          )
        }
        apply(whole('all of it'))
        apply({ type: 'end' })
        expect(reader.look()).toEqual(everything())
      }),
      { seed: 20261122, numRuns: 300 },
    )
  })

  it('send withheld arguments of calls when the run ends without a whole message', () => {
    const view = emptyView()
    const reader = deltaReader(view)
    applyEntries(view, '1-1', [
      { type: 'begin', id },
      { type: 'call', id, index: 0, call_id: 'a', name: 'look', args: `{"where":"${'x'.repeat(500)}` },
    ])
    reader.look()
    applyEntries(view, '1-2', [{ type: 'call', id, index: 0, args: 'y"}' }])
    expect(reader.look()[0]).toMatchObject({ data: { tool_calls: [{ args: { where: 'x'.repeat(500) } }] } })
    applyEntries(view, '1-3', [{ type: 'end' }])
    expect(reader.look()[0]).toMatchObject({ data: { tool_calls: [{ args: { where: `${'x'.repeat(500)}y` } }] } })
  })

  it('send a few times the length of the message, while whole messages send its square', () => {
    const cost = (pieces: number) => {
      const view = emptyView()
      const deltas = deltaReader(view)
      const changes = wholeMessages()
      let bytes = 0
      applyEntries(view, '1-0', [{ type: 'begin', id }])
      for (let number = 1; number <= pieces; number++) {
        applyEntries(view, `1-${number}`, [{ type: 'text', id, text: 'words of the answer '.repeat(5) }])
        deltas.look()
        bytes += Buffer.byteLength(JSON.stringify(changes(view, '0-0')))
      }
      return { deltas: deltas.bytes(), whole: bytes, types: deltas.types }
    }
    const [short, long] = [cost(200), cost(2000)]
    expect(long.deltas).toBeLessThan(4 * 2000 * 100)
    expect(long.deltas / short.deltas).toBeLessThan(12)
    expect(long.whole / short.whole).toBeGreaterThan(80)
    const again = long.types.filter((type) => type === 'AIMessage').length
    expect(again).toBeGreaterThan(3)
    expect(again).toBeLessThan(12)
  })

  it('send a few times the length of the arguments while a call arrives', () => {
    const view = emptyView()
    const reader = deltaReader(view)
    applyEntries(view, '1-0', [{ type: 'begin', id }])
    applyEntries(view, '1-1', [{ type: 'call', id, index: 0, call_id: 'a', name: 'write', args: '{"text":"' }])
    for (let number = 2; number < 2000; number++) {
      applyEntries(view, `1-${number}`, [{ type: 'call', id, index: 0, args: 'twenty characters ok' }])
      reader.look()
    }
    expect(reader.bytes()).toBeLessThan(4 * 2000 * 20)
  })
})

describe('a stream of mode deltas', () => {
  const service = useSharedService()
  const dataOf = (events: ServerEvent[]): any[] =>
    events.filter(({ event }) => event === 'data').flatMap(({ data }) => JSON.parse(data))

  it.each(['body', 'query'])('can be requested in the %s, and has the same messages, ids and end', async (place) => {
    const { client, payload, join, messages } = await conversation(service)
    const steps = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    service.model.reply({
      text: ['The harbour ', steps[0]?.promise ?? '', 'opens ', steps[1]?.promise ?? '', 'at six. ⚓'],
    })
    const response = await (place === 'body'
      ? client.fetch('POST', '/runs/stream', payload('When?', { stream_mode: 'deltas' }))
      : client.fetch('POST', '/runs/stream?stream_mode=deltas', payload('When?')))
    const events: ServerEvent[] = []
    for await (const event of readEvents(response)) {
      events.push(event)
      if (event.event === 'data') steps.shift()?.resolve()
    }
    expect(events.map(({ event }) => event).filter((name) => name !== 'data')).toEqual(['start', 'metadata', 'end'])
    const sent = dataOf(events)
    // The end of the message may come with its last text.
    expect(sent[0]).toMatchObject({ type: 'AIMessage' })
    expect(sent[1]).toMatchObject({ type: 'AIMessageDelta' })
    expect(sent.at(-1)).toMatchObject({ type: 'AIMessage' })
    expect(sent.slice(0, 2).map(({ data }) => data.content)).toEqual(['The harbour ', 'opens '])
    const joined = await join(JSON.parse(events[1]?.data ?? '').run_id)
    expect(foldMessages([], sent)).toEqual(joined.messages)
    expect((await messages()).at(-1).data.content).toBe('The harbour opens at six. ⚓')
  })

  it('continues after Last-Event-ID with whole messages, then deltas', async () => {
    const { client, start } = await conversation(service)
    const steps = [1, 2, 3].map(() => Promise.withResolvers<void>())
    const gates = steps.map(({ promise }) => promise)
    service.model.reply({ text: ['One', gates[0] ?? '', ' two', gates[1] ?? '', ' three', gates[2] ?? '', ' four'] })
    const run = await start('Count')
    const read = async (until: string, after?: string, from: Message[] = []) => {
      const headers = after === undefined ? undefined : { 'last-event-id': after }
      const path = `/runs/${run.run_id}/stream?stream_mode=deltas`
      const response = await client.fetch('GET', path, undefined, headers)
      let messages = from
      const types: string[] = []
      for await (const { event, id: eventId, data } of readEvents(response)) {
        if (event === 'end') return { messages, types, at: eventId }
        if (event !== 'data') continue
        const changed = JSON.parse(data)
        types.push(...changed.map(({ type }: Message) => type))
        messages = foldMessages(messages, changed)
        if (messages[0]?.data.content === until) return { messages, types, at: eventId }
        steps.shift()?.resolve()
      }
      throw new Error('the stream ended early')
    }
    const before = await read('One two')
    expect(before.types).toEqual(['AIMessage', 'AIMessageDelta'])
    steps.shift()?.resolve()
    const after = await read('One two three four', before.at, before.messages)
    expect(after.types[0]).toBe('AIMessage')
    expect(after.messages[0]?.data.content).toBe('One two three four')
  })

  it('is the default of the typed client', async () => {
    const { client, start } = await conversation(service)
    service.model.reply({ text: ['Short', ' and good'] })
    const run = await start('Go')
    const asked: string[] = []
    const fetching: typeof fetch = (input, init) => {
      asked.push(input instanceof Request ? input.url : input.toString())
      return fetch(input, init)
    }
    const options = { baseUrl: service.url, token: () => client.token, runId: run.run_id, fetch: fetching }
    const lasts: RunSnapshot[] = []
    for (const more of [{}, { streamMode: 'messages' as const }]) {
      let last: RunSnapshot | undefined
      for await (const snapshot of followRun({ ...options, ...more })) last = snapshot
      if (last) lasts.push(last)
    }
    expect(asked.map((url) => new URL(url).searchParams.get('stream_mode'))).toEqual(['deltas', 'messages'])
    expect(lasts[0]?.messages).toEqual(lasts[1]?.messages)
  })

  it('returns 422 with the member for an unknown mode', async () => {
    const { client, payload } = await conversation(service)
    const inBody = await client.call('POST', '/runs/stream', payload('Hi', { stream_mode: 'tokens' }))
    expect(inBody).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'stream_mode'] }] } })
    const inQuery = await client.call('POST', '/runs/stream?stream_mode=tokens', payload('Hi'))
    expect(inQuery).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', 'stream_mode'] }] } })
  })

  it('works for public callers too', async () => {
    const { client, assistantId } = await conversation(service)
    const config = { 'type==agent/access_mode': 'public_no_auth' }
    await client.put(`/assistants/${assistantId}`, { name: 'Open', config })
    // The end of an answer is sent whole: it must not come together with its second piece.
    const [second, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    service.model.reply({ text: ['Welcome', second.promise, ' aboard', end.promise] })
    const response = await fetch(`${service.url}/public/runs/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        assistant_id: assistantId,
        input: [{ type: 'human', content: 'Hi' }],
        stream_mode: 'deltas',
      }),
    })
    const events: ServerEvent[] = []
    for await (const event of readEvents(response)) {
      events.push(event)
      if (event.event === 'data') (dataOf(events).length === 1 ? second : end).resolve()
    }
    expect(dataOf(events)[1]).toMatchObject({ type: 'AIMessageDelta', data: { content: ' aboard' } })
    const runId = JSON.parse(events[1]?.data ?? '').run_id
    const joined = await allEvents(await fetch(`${service.url}/public/runs/${runId}/stream?stream_mode=deltas`))
    expect(foldMessages([], dataOf(joined))).toEqual(foldMessages([], dataOf(events)))
  })
})
