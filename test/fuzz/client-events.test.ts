import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ServerEvent, readEvents } from '../../client/src/index.ts'
import { cutAt, cuts, oddText, sent } from './pieces.ts'
import { cases } from './settings.ts'

const eventsOf = (pieces: Uint8Array[], options = {}): Promise<ServerEvent[]> =>
  Array.fromAsync(readEvents(ReadableStream.from(pieces), () => {}, options))

const oneLine = oddText.map((text) =>
  sent(text)
    .replaceAll(/[\r\n]/g, '')
    .trimStart(),
)
const lineEnd = fc.constantFrom('\n', '\r\n', '\r')

describe("the client's reader of events", () => {
  it('returns the events that were sent, wherever the stream is split and with any line ends', async () => {
    const event = fc.record({ event: oneLine, id: oneLine, data: fc.array(oneLine, { minLength: 1, maxLength: 3 }) })
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 5 }), lineEnd, cuts, async (events, end, places) => {
        const text = events
          .map(({ event: name, id, data }) =>
            [': comment', `event: ${name}`, `id: ${id}`, ...data.map((line) => `data: ${line}`), '', ''].join(end),
          )
          .join('')
        const read = await eventsOf(cutAt(new TextEncoder().encode(text), places))
        // HTML standard, section 9.2.6: an empty name is no name, and an id with a null character is left out.
        const expected = events.map(({ event: name, id, data }) => ({
          event: name || 'message',
          id: id.includes('\0') ? undefined : id,
          data: data.join('\n'),
        }))
        expect(read).toEqual(expected)
      }),
      cases(),
    )
  })

  it('reads any bytes to their end, with the same result however they are split', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      oddText.map((text) => new TextEncoder().encode(text)),
    )
    await fc.assert(
      fc.asyncProperty(bytes, cuts, async (body, places) => {
        expect(await eventsOf(cutAt(body, places))).toEqual(await eventsOf([body]))
      }),
      cases(),
    )
  })

  it('fails for an event that is too long, in one line or several', async () => {
    for (const line of [`data: ${'x'.repeat(50)}`, 'data: x\n'.repeat(10_000)]) {
      const body = ReadableStream.from(
        (async function* () {
          for (;;) yield new TextEncoder().encode(line)
        })(),
      )
      await expect(Array.fromAsync(readEvents(body, () => {}, { maxCharacters: 100_000 }))).rejects.toThrow('too long')
    }
  })
})
