import { beforeEach, describe, expect, it } from 'vitest'
import type { ApiClient } from '../support/api-client.ts'
import { useSharedService } from '../support/shared-service.ts'
import { allEvents } from '../support/sse.ts'
import { insertUser } from '../support/users.ts'

describe('a streamed run', () => {
  const service = useSharedService()
  let user: ApiClient
  let assistantId: string
  let threadId: string

  beforeEach(async () => {
    user = await insertUser(service)
    assistantId = (
      await user.post('/assistants/', { name: 'Helper', config: { 'type==agent/system_message': 'Be brief.' } })
    ).assistant_id
    threadId = (await user.post('/threads/', { name: 'Talk' })).thread_id
  })

  const payload = (content: string, more: object = {}) => ({
    thread_id: threadId,
    input: [{ type: 'human', content }],
    config: { configurable: { assistant_id: assistantId, thread_id: threadId, user_id: 'ignored' } },
    ...more,
  })

  it('sends start, metadata, growing messages under one id, and end', async () => {
    service.model.reply({ text: ['Hel', 'lo', ' there'], usage: { prompt_tokens: 7, completion_tokens: 3 } })
    const response = await user.fetch('POST', '/runs/stream', payload('Hi'))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    const events = await allEvents(response)
    expect(events[0]).toMatchObject({ event: 'start', data: '{"status":"starting"}' })
    const metadata = JSON.parse(events[1]?.data ?? '')
    expect(events[1]?.event).toBe('metadata')
    expect(metadata.thread_id).toBe(threadId)
    expect(response.headers.get('content-location')).toBe(`/runs/${metadata.run_id}`)
    expect(events.at(-1)).toMatchObject({ event: 'end', data: '' })
    const states = events.filter((event) => event.event === 'data').map((event) => JSON.parse(event.data))
    expect(states.length).toBeGreaterThan(0)
    expect(new Set(states.flat().map((message) => message.data.id)).size).toBe(1)
    for (const [message] of states) expect('Hello there'.startsWith(message.data.content)).toBe(true)
    expect(states.at(-1)[0]).toMatchObject({ type: 'AIMessage', data: { content: 'Hello there' } })

    const { values, next } = await user.get(`/threads/${threadId}/state`)
    expect(values.messages.map((message: any) => [message.type, message.data.content])).toEqual([
      ['HumanMessage', 'Hi'],
      ['AIMessage', 'Hello there'],
    ])
    expect(next).toEqual([])
    const run = await user.get(`/runs/${metadata.run_id}`)
    expect(run).toMatchObject({
      status: 'success',
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    })
    expect(await user.get('/user/usage')).toMatchObject({
      runs: 1,
      total_tokens: 10,
      threads: [{ thread_id: threadId, runs: 1, prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }],
    })
    expect(service.model.requests.at(-1)?.body.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
    ])
  })
})
