import { beforeAll, describe, expect, it } from 'vitest'
import { maxMessageBytes } from '../../domain/message-size.ts'
import { newPublicAssistant } from '../public/public-assistant.ts'
import type { ApiClient } from '../support/api-client.ts'
import { apiClient } from '../support/api-client.ts'
import { useSharedService } from '../support/shared-service.ts'
import { conversation } from './support.ts'

/** Of a message with this text, the rest of which is short: just too long, and just not. */
const tooLong = (bytes: number) => 'ä'.repeat(bytes / 2 + 1)
const fitting = (bytes: number) => 'ä'.repeat(bytes / 2 - 200)

describe('a message that is too long', () => {
  const service = useSharedService({ respond: () => ({ text: 'Read.' }) })

  const refused = async (client: ApiClient, path: string, body: object, loc: (string | number)[]) => {
    const { detail } = await client.post(path, body, 422)
    expect(detail).toEqual([{ loc, msg: expect.stringMatching(/is too long: it has \d+ bytes/), type: 'too_long' }])
  }

  it('is refused in runs and states of users, whichever member is too long', async () => {
    const talk = await conversation(service)
    const human = { type: 'human', content: tooLong(maxMessageBytes.user) }
    const calls = [{ id: 'c', name: 'n', args: { text: human.content }, type: 'tool_call' }]
    const call = { type: 'AIMessage', data: { content: '', tool_calls: calls } }
    const values = [{ type: 'human', content: 'short' }, call]
    for (const path of ['/runs/', '/runs/stream']) {
      await refused(talk.client, path, talk.payload('', { input: [human] }), ['body', 'input', 0])
      const messages = { messages: values }
      await refused(talk.client, path, talk.payload('', { input: messages }), ['body', 'input', 'messages', 1])
    }
    await refused(talk.client, `/threads/${talk.threadId}/state`, { values }, ['body', 'values', 1])
    expect(await talk.messages()).toEqual([])

    await talk.client.post(`/threads/${talk.threadId}/state`, {
      values: [{ type: 'human', content: fitting(maxMessageBytes.user) }],
    })
    expect((await talk.stream('And now?')).end).toBe('end')
  })

  describe('of a public caller', () => {
    let id: string
    let caller: ApiClient
    const text = tooLong(maxMessageBytes.public)
    const base = '/public/compat/v1'
    beforeAll(async () => {
      const assistant = await newPublicAssistant(service)
      id = assistant.id
      caller = apiClient(service.url, assistant.token)
    })

    it('is refused on the native stream', async () => {
      const body = (content: string) => ({ assistant_id: id, input: [{ type: 'human', content }] })
      await refused(caller, '/public/runs/stream', body(text), ['body', 'input', 0])
      const taken = await caller.fetch('POST', '/public/runs/stream', body(fitting(maxMessageBytes.public)))
      expect(taken.status).toBe(200)
      await taken.text()
    })

    it('is refused in chat completions, in parts too', async () => {
      const short = { role: 'user', content: 'short' }
      const long = {
        role: 'user',
        content: [text.slice(0, 1000), text.slice(1000)].map((part) => ({ type: 'text', text: part })),
      }
      await refused(caller, `${base}/chat/completions`, { model: 'm', messages: [short, long] }, [
        'body',
        'messages',
        1,
      ])
      const system = { role: 'system', content: text }
      await refused(caller, `${base}/chat/completions`, { model: 'm', messages: [system] }, ['body', 'messages', 0])
    })

    it('is refused in threads, messages and runs', async () => {
      const message = { role: 'user', content: text }
      await refused(caller, `${base}/threads`, { messages: [message] }, ['body', 'messages', 0])
      const { id: threadId } = await caller.post(`${base}/threads`, {})
      await refused(caller, `${base}/threads/${threadId}/messages`, message, ['body'])
      const noted = { role: 'user', content: 'short', metadata: { note: text } }
      await refused(caller, `${base}/threads/${threadId}/messages`, noted, ['body'])
      const run = { assistant_id: id }
      for (const [path, body, loc] of [
        [`threads/${threadId}/runs`, { additional_messages: [message] }, ['body', 'additional_messages', 0]],
        [`threads/${threadId}/runs`, { instructions: text }, ['body', 'instructions']],
        ['threads/runs', { thread: { messages: [message] } }, ['body', 'thread', 'messages', 0]],
        ['threads/runs', { additional_messages: [message] }, ['body', 'additional_messages', 0]],
      ] as const) {
        await refused(caller, `${base}/${path}`, { ...run, ...body }, [...loc])
      }
    })
  })

  it('is refused as the edited arguments of a call', async () => {
    const talk = await conversation(service, {
      'type==agent/tools': [{ type: 'http_request' }],
      'type==agent/interrupt_before_action': true,
    })
    service.model.reply({ toolCalls: [{ name: 'http_request', arguments: { method: 'GET', url: 'http://x.test' } }] })
    const { runId } = await talk.stream('Go')
    const args = { method: 'POST', url: 'http://x.test', body: tooLong(maxMessageBytes.user) }
    await refused(talk.client, `/runs/${runId}/resume`, { action: 'edit', args }, ['body', 'args'])
    await talk.client.post(`/runs/${runId}/cancel`, {})
  })
})
