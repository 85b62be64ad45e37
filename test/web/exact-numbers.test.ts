import fc from 'fast-check'
import { expect, it, onTestFinished, vi } from 'vitest'
import {
  digitsOf,
  fetchExact,
  markArguments,
  markNumbers,
  numberOf,
  shownJson,
  withDigits,
} from '../../web/src/lib/exact-numbers.ts'

const inexact = ['9007199254740993', '-12345678901234567890', '1.10', '0.1000000000000000055511151', '1e3', '5.0']

it.each(inexact)('arguments of calls keep the digits of %s in the console', (number) => {
  const json = `{"cost":0.30000000000000004,"text":"\\"args\\":{\\"a\\":${number}}","args":{"a":[${number},1],"b":"${number}"},"n":1e3}`
  const marked = markArguments(json)
  const value: { cost: number; args: { a: unknown[]; b: string }; n: number } = JSON.parse(marked)
  expect([value.cost, value.n, value.args.b, value.args.a[1]]).toEqual([0.30000000000000004, 1000, number, 1])
  expect(digitsOf(value.args.a[0])).toBe(number)
  expect(withDigits(JSON.stringify(value.args))).toBe(`{"a":[${number},1],"b":"${number}"}`)
  expect(shownJson({ a: value.args.a[0] })).toBe(`{\n  "a": ${number}\n}`)
})

it('any arguments are the same when they are shown and sent again', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(...inexact), (value, number) => {
      const args = `{"v":${JSON.stringify(value)},"n":${number}}`
      const whole = `[{"args":${args},"after":{"x":[1]}},{"args":{}}]`
      const parsed: unknown = JSON.parse(markArguments(whole))
      expect(withDigits(JSON.stringify(parsed))).toBe(whole)
      expect(withDigits(JSON.stringify(JSON.parse(markNumbers(args))))).toBe(args)
    }),
  )
})

it('a number is a double where one holds it', () => {
  expect([numberOf('12'), numberOf('0.50'), numberOf('-3e2')]).toEqual([12, 0.5, -300])
  expect(withDigits(JSON.stringify([numberOf('9007199254740993'), numberOf('0.12345678901234567')]))).toBe(
    '[9007199254740993,0.12345678901234567]',
  )
})

it('answers, events and requests pass with their digits', async () => {
  const sent: string[] = []
  const event = 'data: {"args":{"id":9007199254740993}}\n\n'
  const answers = [
    () => new Response('{"args":{"id":9007199254740993}}', { headers: { 'content-type': 'application/json' } }),
    () =>
      new Response(ReadableStream.from([event.slice(0, 20), event.slice(20)].map((text) => Buffer.from(text))), {
        headers: { 'content-type': 'text/event-stream' },
      }),
  ]
  vi.stubGlobal('fetch', async (request: Request) => {
    sent.push(await request.text())
    return answers.shift()?.()
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  const url = 'http://127.0.0.1/'
  const { args } = (await (await fetchExact(url)).json()) as { args: { id: unknown } }
  expect(digitsOf(args.id)).toBe('9007199254740993')
  const body = JSON.stringify({ args })
  const stream = await fetchExact(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
  expect(sent).toEqual(['', '{"args":{"id":9007199254740993}}'])
  expect(withDigits(await stream.text())).toBe(event)
})
