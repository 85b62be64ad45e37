import { describe, expect, it } from 'vitest'
import { JsonLimitError } from '../../domain/foreign-json.ts'
import { scanAnswer, scanEvents } from '../../infra/outbound/scan-answer.ts'

const limits = { bytes: 16_000_000 }
const many = `[${'[],'.repeat(5_000_000)}[]]`
const answerOf = (body: string, type: string) =>
  scanAnswer(new Response(body, { headers: { 'content-type': type } }), limits)

describe('an answer of one JSON text', () => {
  it('is the same afterwards', async () => {
    const headers = { 'content-type': 'Application/JSON; charset=utf-8', 'x-request-id': '7' }
    const answer = await scanAnswer(new Response('\uFEFF{"a":["é😀"]}', { status: 201, headers }), limits)
    expect([answer.status, answer.headers.get('x-request-id')]).toEqual([201, '7'])
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(await answer.json()).toEqual({ a: ['é😀'] })
    expect((await scanAnswer(new Response(null, { status: 204 }), limits)).status).toBe(204)
  })

  it.each([
    ['15 MB of small lists', many, /^holds more than 50,000 objects and arrays$/],
    ['a million levels', '['.repeat(1_000_000), /^nests deeper than 64 levels$/],
    ['a list of numbers', `[${'0,'.repeat(300_000)}0]`, /^holds more than 200,000 members$/],
    ['a long text', `"${'x'.repeat(limits.bytes)}"`, /^is larger than 16,000,000 bytes$/],
  ])('is refused: %s', async (_what, body, message) => {
    const refused: unknown = await answerOf(body, 'application/json').catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(JsonLimitError)
    expect(refused).toHaveProperty('message', expect.stringMatching(message))
  })

  it('cannot be read as what it was not scanned as', async () => {
    // A quote hides the rest from the scan of a whole text, not from a reader of events; and the other way round.
    for (const type of [
      'application/json; a=text/event-stream',
      'text/event-stream, application/json',
      'x+text/event-stream',
    ]) {
      const answer = await answerOf(`"\n[${'[],'.repeat(60_000)}[]]\n\ndata: [1]\n\n`, type)
      expect(answer.headers.get('content-type')).toBe('text/event-stream')
      expect(await answer.text()).toBe('data: [1]\n\n')
    }
    const plain = await answerOf('"\ndata: [1]\n\n', 'text/html, application/json')
    expect(plain.headers.get('content-type')).toBe('text/html')
  })
})

describe('a stream of events', () => {
  async function scanned(pieces: Iterable<Uint8Array>, bytes = 1000): Promise<string> {
    return new Response(ReadableStream.from(scanEvents(ReadableStream.from(pieces), { bytes }))).text()
  }
  const encode = (text: string) => new TextEncoder().encode(text)
  const whole =
    'event: a\r\nid: 1\r\nretry: 50\r\ndata: {"é":\r\ndata:  "😀"}\r\n\r\n: a comment\r\rdata:[1]\n\nunknown: [\n\ndata: half'

  it('has the same events, whole, wherever it is split', async () => {
    const expected = 'retry: 50\nevent: a\nid: 1\ndata: {"é":\ndata:  "😀"}\n\ndata: [1]\n\n'
    const bytes = encode(whole)
    expect(await scanned([...bytes].map((byte) => Uint8Array.of(byte)))).toBe(expected)
    for (let at = 0; at < bytes.length; at++)
      expect(await scanned([bytes.subarray(0, at), bytes.subarray(at)])).toBe(expected)
  })

  it.each([
    ['a line without an end', 'data: ', 'x', /is larger than 1,000 bytes/],
    ['an event without an end', '', 'data: 1\n', /is larger than 1,000 bytes/],
    ['comments without an end', '', ': 1\n\n', /is larger than 1,000 bytes/],
    ['nesting', `data: ${'['.repeat(70)}\n\n`, '', /nests deeper than 64 levels/],
    ['nesting over lines', `${'data: [\n'.repeat(70)}\n`, '', /nests deeper than 64 levels/],
  ])('fails at %s, and what came before it arrives', async (_what, start, endless, message) => {
    let sent = 0
    function* pieces() {
      yield encode('data: 1\n\n')
      yield encode(start)
      for (; endless !== '' && sent < 100_000; sent++) yield encode(endless)
    }
    let arrived = ''
    const read = async () => {
      for await (const chunk of scanEvents(ReadableStream.from(pieces()), { bytes: 1000 }))
        arrived += new TextDecoder().decode(chunk)
    }
    await expect(read()).rejects.toThrow(message)
    expect(arrived).toBe('data: 1\n\n')
    expect(sent).toBeLessThan(1100)
  })
})
