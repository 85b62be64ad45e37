import { expect, test } from 'vitest'
import { readEvents } from '../../client/src/index.ts'

async function eventsOf(pieces: string[]) {
  const bytes = pieces.map((piece) => new TextEncoder().encode(piece))
  const events = []
  for await (const event of readEvents(ReadableStream.from(bytes))) events.push(event)
  return events
}

test('events are complete wherever the stream is split', async () => {
  const text = ': hello\r\n\r\nevent: data\r\nid: 1-0\r\ndata: {"a":"ä"}\r\n\r\nevent: end\ndata:\n\n'
  const expected = [
    { event: 'data', id: '1-0', data: '{"a":"ä"}' },
    { event: 'end', id: undefined, data: '' },
  ]
  expect(await eventsOf([text])).toEqual(expected)
  expect(await eventsOf(Array.from(text))).toEqual(expected)
})

test('data of several lines is joined, and an incomplete event is left out', async () => {
  expect(await eventsOf(['data: a\ndata: b\n\ndata: c\n'])).toEqual([{ event: 'message', id: undefined, data: 'a\nb' }])
})
