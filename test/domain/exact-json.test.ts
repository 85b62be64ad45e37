import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readRecord } from '../../domain/archive/read-record.ts'
import { createCanonicalArguments } from '../../domain/canonical-arguments.ts'
import { containsInfinity, objectFromJsonText, parseExactJson } from '../../domain/json.ts'
import { messagesFromJson, messagesToJson } from '../../domain/messages.ts'
import type { Message } from '../../domain/messages.ts'
import { readPartialObject } from '../../domain/partial-json.ts'
import { applyEntries, emptyView, toMessage } from '../../domain/run-events.ts'
import { linesOf } from '../../infra/archives/read-members.ts'
import { createAnswer } from '../../services/runs/answer.ts'
import { promptOf } from '../../services/runs/chat-request.ts'

const numbers = [
  '9007199254740993',
  '-12345678901234567890',
  '1.10',
  '0.1000000000000000055511151',
  '1e3',
  '1E-7',
  '-0',
  '5.0',
  '1e999',
]
const digits = fc.string({ unit: fc.constantFrom(...'0123456789'.split('')), minLength: 1, maxLength: 25 })
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits,
    fc.option(digits),
    fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'E-'), fc.nat(400))),
  )
  .map(([sign, whole, fraction, exponent]) => {
    const start = whole.replace(/^0+(?=\d)/, '')
    return `${sign}${start}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : exponent.join('')}`
  })

describe('JSON that is passed on', () => {
  it.each(numbers)('keeps the digits of %s', (text) => {
    for (const json of [`{"a":${text}}`, `[1,${text}]`, `{"a":{"b":[${text},"x"]}}`])
      expect(JSON.stringify(parseExactJson(json))).toBe(json)
  })

  it('keeps the digits of every number, in every place', () => {
    fc.assert(
      fc.property(fc.array(number, { minLength: 1, maxLength: 4 }), fc.constantFrom('', ' ', '\n'), (list, space) => {
        const json = `{"list":[${list.join(`,${space}`)}],"last":${space}${list[0]}}`
        const compact = `{"list":[${list.join(',')}],"last":${list[0]}}`
        expect(JSON.stringify(parseExactJson(json))).toBe(compact)
        expect(JSON.stringify(objectFromJsonText(json))).toBe(compact)
        expect(createCanonicalArguments().read(json)).toEqual({ text: compact, isWhole: true })
      }),
      { numRuns: 500 },
    )
  })

  it('is plain where nothing would be lost', () => {
    const value = { id: '019a3e12-4e51-7000', n: 1.5, big: 9007199254740991, text: 'costs 1.50, or 1e5' }
    expect(parseExactJson(JSON.stringify(value))).toEqual(value)
  })
})

describe('a number that is out of range', () => {
  it('is found also where the digits are kept', () => {
    expect(containsInfinity(parseExactJson('{"a":[{"b":-1e999}]}'))).toBe(true)
    expect(containsInfinity(parseExactJson('{"a":[{"b":-1.10e30,"c":12345678901234567890}]}'))).toBe(false)
  })
})

describe('lines of an archive', () => {
  it('keep the digits of arguments, and have numbers everywhere else', async () => {
    const args = '{"id":9007199254740993,"price":1.10,"list":[1e3,{"args":2.50}]}'
    const time = '"2026-01-01T00:00:00.000Z"'
    const call = `{"id":"c","name":"pay","args":${args},"type":"tool_call"}`
    const message = `{"type":"AIMessage","data":{"id":"m","content":"1.10","tool_calls":[${call}]}}`
    const lines = [
      `{"run_id":"r","step":1.0,"index":0,"call_id":"c","name":"pay","args":${args},"status":"done","created_at":${time}}`,
      `{"thread_id":"t","seq":1.0,"source":"step","messages":[${message}],"created_at":${time}}`,
    ]
    const content = (async function* (): AsyncGenerator<Buffer, undefined> {
      yield Buffer.from(`${lines.join('\n')}\n`)
    })()
    const unchanged = (given: Message) => given
    const read: unknown[] = []
    for await (const line of linesOf({ name: 'part', size: 1, content }, 1000)) read.push(line)
    expect(readRecord('tool_calls', read[0], unchanged)).toMatchObject({
      type: 'record',
      record: { step: 1, args_json: args },
    })
    const { record } = readRecord('messages', read[1], unchanged) as { record: { messages_json: string } }
    expect(record.messages_json).toContain(args)
  })
})

describe('arguments of a call', () => {
  const text = '{"account": 12345678901234567890, "rate": 1.10, "list": [1E5]}'
  const compact = '{"account":12345678901234567890,"rate":1.10,"list":[1E5]}'

  it('go back to the model, through the stream and the log, digit for digit', () => {
    const answer = createAnswer('r-0')
    const view = emptyView()
    applyEntries(view, '1-0', [{ type: 'open' }, { type: 'begin', id: 'r-0' }])
    applyEntries(view, '1-1', answer.add({ type: 'call', index: 0, id: 'c', name: 'pay', args: text }))
    const [folded] = view.messages.values()
    expect(JSON.stringify(folded && toMessage(folded))).toContain(compact)
    const stored = messagesFromJson(messagesToJson([answer.message()]))
    expect(JSON.stringify(stored)).toContain(compact)
    const [asked] = promptOf(stored, [])
    expect(asked).toMatchObject({ tool_calls: [{ function: { arguments: compact } }] })
  })

  it('are kept while they arrive', () => {
    expect(JSON.stringify(readPartialObject(text.slice(0, 34)))).toBe('{"account":12345678901234567890}')
  })
})
