import { describe, expect, it } from 'vitest'
import { createEventReader } from '../../infra/model/event-reader.ts'

const tooLong = () => new Error('too long')

function readAll(bytes: Uint8Array, chunkBytes: number, maxLength = 1000): string[] {
  const reader = createEventReader(maxLength, tooLong)
  const events: string[] = []
  for (let start = 0; start < bytes.length; start += chunkBytes)
    events.push(...reader.read(bytes.subarray(start, start + chunkBytes)))
  const last = reader.end()
  return last === undefined ? events : [...events, last]
}

describe('the events of a model', () => {
  const stream =
    ': hello\n\ndata: {"a":"ü€"}\n\nevent: x\r\nid: 1\r\ndata:first\r\ndata: second\r\n\r\n\n\ndata: [DONE]'

  it.each([1, 2, 3, 7, 1000])('are the same in chunks of %i bytes', (chunkBytes) => {
    expect(readAll(Buffer.from(stream), chunkBytes)).toEqual(['{"a":"ü€"}', 'first\nsecond', '[DONE]'])
  })

  it.each([
    ['one long line', 'x'.repeat(2000)],
    ['many lines', 'data: x\n'.repeat(300)],
    ['comments', ': x\n'.repeat(600)],
  ])('end when one is too long: %s', (_name, text) => {
    for (const chunkBytes of [1, 64, 5000]) expect(() => readAll(Buffer.from(text), chunkBytes)).toThrow('too long')
    expect(readAll(Buffer.from('data: x\n\n'.repeat(1000)), 64)).toHaveLength(1000)
  })

  it('are read in linear time, whatever a server sends', () => {
    const startedAt = performance.now()
    for (const text of ['\r', '\n', 'data:', '\r\n', 'data: x\n\n'])
      readAll(Buffer.from(text.repeat(1_000_000 / text.length)), 65_536, 2_000_000)
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })
})
