import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { forEachLine, linesOf } from '../../infra/lines.ts'

async function lines(pieces: (Buffer | string)[], maxCharacters?: number): Promise<string[]> {
  const source = Readable.from(pieces)
  const all: string[] = []
  for await (const line of linesOf(source, maxCharacters === undefined ? {} : { maxCharacters })) all.push(line)
  return all
}

describe('lines of a stream', () => {
  it('end at \\n and \\r\\n, wherever the stream is split', async () => {
    const bytes = Buffer.from('first\r\nsécond 😀\n\nlast')
    const expected = ['first', 'sécond 😀', '', 'last']
    expect(await lines([bytes])).toEqual(expected)
    expect(await lines([...bytes].map((byte) => Buffer.of(byte)))).toEqual(expected)
    expect(await lines(['first\r', '\nsécond 😀\n', '\nlast'])).toEqual(expected)
  })

  it('may contain every other Unicode line end', async () => {
    const text = 'a\rb\vc\fd\u0085e\u2028f\u2029g'
    expect(await lines([Buffer.from(`${text}\n${text}`)])).toEqual([text, text])
  })

  it('are refused when they are longer than allowed', async () => {
    expect(await lines(['12345\n12345'], 5)).toEqual(['12345', '12345'])
    await expect(lines(['12', '34', '56'], 5)).rejects.toThrow('longer than 5')
  })

  it('of an interrupted stream are those that arrived', async () => {
    const seen: string[] = []
    const source = Readable.from(
      (function* () {
        yield 'one\ntwo'
        throw new Error('broken')
      })(),
    )
    await forEachLine(source, (line) => seen.push(line))
    expect(seen).toEqual(['one'])
  })
})
