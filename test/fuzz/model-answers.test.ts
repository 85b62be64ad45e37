import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ModelFailure } from '../../domain/model-failure.ts'
import { readJsonObject, readPartialObject } from '../../domain/partial-json.ts'
import { applyEntries, emptyView, toMessage } from '../../domain/run-events.ts'
import { argumentCheck } from '../../domain/tool-arguments.ts'
import { createAnswerReader } from '../../infra/model/answer-reader.ts'
import { createChatModel } from '../../infra/model/chat.ts'
import { createAnswer } from '../../services/runs/answer.ts'
import { cutAt, cuts, oddText } from './pieces.ts'
import { cases } from './settings.ts'

const call = fc.record(
  {
    index: fc.oneof({ weight: 9, arbitrary: fc.nat(3) }, fc.anything()),
    id: fc.oneof({ weight: 9, arbitrary: fc.constantFrom('a', 'b', null) }, fc.anything()),
    function: fc.record(
      { name: fc.constantFrom('look', 'write', null), arguments: fc.oneof(oddText, fc.json(), fc.constant(null)) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['index'] },
)
const delta = fc.record(
  { content: fc.oneof(oddText, fc.constant(null)), tool_calls: fc.array(call, { maxLength: 3 }) },
  { requiredKeys: [] },
)
const chunk = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record(
      {
        choices: fc.array(
          fc.record({ delta, finish_reason: fc.constantFrom('stop', 'length', null) }, { requiredKeys: [] }),
          { maxLength: 2 },
        ),
        usage: fc.oneof(
          fc.record({ prompt_tokens: fc.nat(), completion_tokens: fc.nat() }, { requiredKeys: [] }),
          fc.constant(null),
        ),
      },
      { requiredKeys: [] },
    ),
  },
  { weight: 1, arbitrary: fc.anything() },
)

describe("a model server's chunks", () => {
  it('are read, or refused with an error that names the member', () => {
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 12 }), (chunks) => {
        const reader = createAnswerReader()
        const types: string[] = []
        let failure: unknown
        for (const value of chunks) {
          try {
            types.push(...reader.read(value).map(({ type }) => type))
          } catch (error) {
            failure = error
            break
          }
        }
        expect(types.filter((type) => !['text', 'call', 'usage', 'cut'].includes(type))).toEqual([])
        expect(failure === undefined || failure instanceof ModelFailure).toBe(true)
        expect(failure instanceof Error ? failure.message : 'a chunk').toMatch(/chunk|choices|usage|longer|arguments/)
      }),
      cases(1000),
    )
  })

  it('show readers the message that is finally stored', () => {
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 12 }), (chunks) => {
        const reader = createAnswerReader()
        const answer = createAnswer('run-0')
        const [live, late] = [emptyView(), emptyView()]
        let number = 0
        applyEntries(live, `1-${number++}`, [{ type: 'begin', id: 'run-0' }])
        for (const value of chunks) {
          try {
            for (const piece of reader.read(value)) applyEntries(live, `1-${number++}`, answer.add(piece))
          } catch {
            break
          }
        }
        applyEntries(late, '1-1', answer.entries())
        const { usage: _usage, cut: _cut, ...stored } = answer.message().data
        // Of no use to readers before the end.
        for (const each of stored.tool_calls ?? []) delete each.model_id
        for (const view of [live, late]) {
          const message = view.messages.get('run-0')
          expect(message && toMessage(message)).toEqual({ type: 'AIMessage', data: stored })
        }
      }),
      cases(1000),
    )
  })

  it('are complete wherever the connection splits the stream', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(oddText, { maxLength: 5 }),
        fc.constantFrom('\n', '\r\n'),
        cuts,
        async (texts, end, places) => {
          const body = [...texts.map((content) => ({ choices: [{ delta: { content } }] })), finished]
            .map((event) => [': a comment', `data: ${JSON.stringify(event)}`, '', ''].join(end))
            .join('')
          expect(await answerOf(cutAt(new TextEncoder().encode(body), places))).toEqual({ text: texts.join('') })
        },
      ),
      cases(300),
    )
  })

  it('are read or refused, whatever the bytes', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      oddText.map((text) => new TextEncoder().encode(`data: ${text}\n\n`)),
    )
    await fc.assert(
      fc.asyncProperty(bytes, cuts, async (body, places) => {
        const { text, failure } = await answerOf(cutAt(body, places))
        expect({ text, isRefused: failure instanceof ModelFailure }).toEqual({ text: '', isRefused: true })
      }),
      cases(300),
    )
  })
})

const finished = { choices: [{ delta: {}, finish_reason: 'stop' }] }

/** What is read of an answer that arrives in these pieces. */
async function answerOf(pieces: Uint8Array[]): Promise<{ text: string; failure?: unknown }> {
  const ownFetch = async () => new Response(ReadableStream.from(pieces))
  const model = createChatModel({ ownFetch, guardedFetch: ownFetch, silenceMs: 10_000 })
  const account = { apiKey: 'none', baseUrl: 'http://127.0.0.1/v1', setByUser: false }
  const { signal } = new AbortController()
  const request = { model: 'any', messages: [], tools: [], sampling: {} }
  const unset = { temperature: undefined, maxTokens: undefined, responseFormat: undefined }
  let text = ''
  try {
    for await (const part of model.stream({ account, signal, ...request, ...unset })) {
      if (part.type === 'text') text += part.text
    }
    return { text }
  } catch (failure) {
    return { text, failure }
  }
}

describe('arguments of a tool call', () => {
  it('can be parsed at each length without throwing, and finally give the whole object', () => {
    fc.assert(
      fc.property(
        fc.dictionary(oddText, fc.jsonValue({ noUnicodeString: false }), { noNullPrototype: true }),
        fc.nat(),
        (object, at) => {
          const text = JSON.stringify(object)
          expect(readJsonObject(text)).toEqual(JSON.parse(text))
          const soFar = readPartialObject(text.slice(0, at % (text.length + 1)))
          for (const name of Object.keys(soFar)) expect(Object.hasOwn(object, name)).toBe(true)
        },
      ),
      cases(1000),
    )
  })

  it('that are not JSON, or too deeply nested, give an empty object', () => {
    fc.assert(
      fc.property(oddText, fc.nat(5000), (text, depth) => {
        for (const given of [text, `{"a":${'['.repeat(depth)}`, `{"a":${'{"a":'.repeat(depth)}${text}`]) {
          const read = readPartialObject(given)
          expect(typeof read).toBe('object')
          expect(Array.isArray(read)).toBe(false)
        }
      }),
      cases(),
    )
  })

  it('are checked against a schema without throwing, with messages of limited length', () => {
    const check = argumentCheck({
      type: 'object',
      properties: { query: { type: 'string', maxLength: 20 }, limit: { type: 'integer', enum: [1, 2, 3] } },
      required: ['query'],
      additionalProperties: false,
    })
    fc.assert(
      fc.property(fc.object({ withNullPrototype: false }), (given) => {
        const args = readJsonObject(
          JSON.stringify(given, (_key, value: unknown) => (typeof value === 'bigint' ? 1 : value)),
        )
        const problem = args === undefined ? undefined : check?.(args)
        expect(problem?.length ?? 0).toBeLessThan(10_000)
      }),
      cases(),
    )
  })
})
