import { afterEach, describe, expect, it, vi } from 'vitest'
import { conversation } from '../runs/support.ts'
import { apiClient } from '../support/api-client.ts'
import { useSharedService } from '../support/shared-service.ts'

const megabyte = 1024 * 1024
const repeated = (piece: string, bytes: number) => piece.repeat(Math.ceil(bytes / piece.length))

/** Values of about so many bytes that take long to parse, or to walk through, and the limit that each exceeds. */
const hostile: [name: string, value: (bytes: number) => string, type: string][] = [
  ['empty lists', (bytes) => `[${repeated('[],', bytes)}0]`, 'too_many_containers'],
  ['objects in objects', (bytes) => `${repeated('{"a":', bytes)}0`, 'too_deep'],
  ['members', (bytes) => `[${repeated('1,', bytes)}0]`, 'too_many_members'],
]

describe('a hostile body', () => {
  const service = useSharedService({ respond: () => ({ text: 'Hi' }) })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it.each(hostile)(
    'of %s is refused before it is parsed, while the run of another user goes on',
    async (_, value, type) => {
      const [attacker, bystander] = [await conversation(service), await conversation(service)]
      const refused = Promise.withResolvers<void>()
      const begun = service.model.reply({ text: ['It goes ', refused.promise, 'on.'] })
      const run = bystander.stream('Go')
      await begun.arrived

      const lengths: number[] = []
      const parse = JSON.parse
      vi.spyOn(JSON, 'parse').mockImplementation((text: string, reviver) => {
        lengths.push(text.length)
        return parse(text, reviver)
      })
      const { client, threadId, assistantId } = attacker
      const send = (method: string, path: string, body: string) => client.call(method, path, body)
      const answers = await Promise.all([
        send('POST', '/runs/stream', `{"thread_id":"${threadId}","input":${value(15 * megabyte)}}`),
        send('POST', `/threads/${threadId}/state`, `{"values":${value(15 * megabyte)}}`),
        send('POST', '/assistants/', `{"name":"a","config":{"a":${value(3 * megabyte)}}}`),
        send('PUT', `/assistants/${assistantId}`, `{"name":"a","config":{"a":${value(3 * megabyte)}}}`),
        send('PUT', `/threads/${threadId}`, `{"metadata":{"a":${value(0.9 * megabyte)}}}`),
        send('POST', `/assistants/${assistantId}/tools/try`, `{"name":"a","args":{"a":${value(3 * megabyte)}}}`),
      ])
      const ok = await apiClient(service.url).call('GET', '/ok')
      expect(ok.status).toBe(200)
      for (const answer of answers) {
        expect(answer.status).toBe(422)
        expect(answer.body.detail).toEqual([{ loc: ['body'], msg: expect.any(String), type }])
      }
      expect(lengths.filter((length) => length > megabyte / 2)).toEqual([])
      refused.resolve()
      expect((await run).end).toBe('end')
      expect((await bystander.messages()).at(-1).data.content).toBe('It goes on.')
    },
  )

  it('of 15 MB is not even read where a megabyte is all that a route can use', async () => {
    const { client, threadId, assistantId } = await conversation(service)
    const body = `{"name":"${'x'.repeat(15 * megabyte)}"}`
    for (const [method, path] of [
      ['POST', '/assistants/'],
      ['PUT', `/assistants/${assistantId}`],
      ['POST', '/threads/'],
      ['PUT', `/threads/${threadId}`],
      ['POST', '/projects/'],
      ['POST', `/assistants/${assistantId}/tools/try`],
      ['POST', `/assistants/${assistantId}/files/search`],
    ] as const) {
      const answer = await client.call(method, path, body)
      expect([path, answer.status, answer.body]).toEqual([path, 413, { detail: 'The body is too large.' }])
    }
  })

  it('that is broken is a bad request, however deep it would be', async () => {
    const { client } = await conversation(service)
    const answer = await client.call('POST', '/assistants/', '{"name":')
    expect([answer.status, answer.body]).toEqual([400, { detail: 'The body is not valid JSON.' }])
  })

  it('is taken when it is as deep as is allowed', async () => {
    const { client } = await conversation(service)
    const nested = (levels: number) => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels)
    const body = (levels: number) => `{"name":"a","config":${nested(levels)}}`
    expect((await client.call('POST', '/assistants/', body(63))).status).toBe(200)
    const answer = await client.call('POST', '/assistants/', body(64))
    expect(answer.body.detail).toEqual([{ loc: ['body'], msg: 'nests deeper than 64 levels', type: 'too_deep' }])
  })
})
