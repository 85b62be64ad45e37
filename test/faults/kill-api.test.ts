import { describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { useModelService } from '../support/model-service.ts'
import { startApiProcess } from '../support/processes.ts'
import { type ServerEvent, allEvents, readEvents } from '../support/sse.ts'
import { insertUser } from '../support/users.ts'

describe('kill -9 of the API in the middle of an answer', () => {
  const service = useModelService()

  it('the run continues, and the client resumes with Last-Event-ID on a new process without a gap', async () => {
    const first = await startApiProcess(service.env)
    const owner = await insertUser(service)
    const client = apiClient(first.url, owner.token)
    const { assistant_id } = await client.post('/assistants/', { name: 'Helper' })
    const { thread_id } = await client.post('/threads/', {})
    const gate = Promise.withResolvers<void>()
    service.model.reply({ text: ['Begin, ', gate.promise, 'middle, ', 'end.'] })

    const response = await client.fetch('POST', '/runs/stream', {
      thread_id,
      assistant_id,
      input: [{ type: 'human', content: 'Go' }],
    })
    const seen: ServerEvent[] = []
    let broken = false
    try {
      for await (const event of readEvents(response)) {
        seen.push(event)
        if (event.event === 'data') await first.kill()
      }
    } catch {
      broken = true
    }
    expect(broken).toBe(true)
    expect(JSON.parse(seen.at(-1)?.data ?? '')[0].data.content).toBe('Begin, ')
    const { run_id } = JSON.parse(seen[1]?.data ?? '')
    gate.resolve()

    const second = await startApiProcess(service.env)
    const back = apiClient(second.url, owner.token)
    const resumed = await back.fetch('GET', `/runs/${run_id}/stream`, undefined, {
      'last-event-id': seen.at(-1)?.id ?? '',
    })
    expect(resumed.status).toBe(200)
    const rest = await allEvents(resumed)
    expect(rest.map(({ event }) => event).filter((name) => name !== 'data')).toEqual(['end'])
    const messages = rest.filter(({ event }) => event === 'data').flatMap(({ data }) => JSON.parse(data))
    expect(messages.at(-1).data.content).toBe('Begin, middle, end.')
    expect(messages.every((message) => message.data.id === JSON.parse(seen.at(-1)?.data ?? '')[0].data.id)).toBe(true)

    const again = await allEvents(
      await back.fetch('GET', `/runs/${run_id}/stream`, undefined, { 'last-event-id': rest.at(-1)?.id ?? '' }),
    )
    expect(again).toEqual([rest.at(-1)])
    const { values } = await back.get(`/threads/${thread_id}/state`)
    expect(values.messages).toHaveLength(2)
    await second.stop()
  })
})
