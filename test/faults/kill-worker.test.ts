import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useModelService } from '../support/model-service.ts'
import { type ServiceProcess, startWorkerProcess } from '../support/processes.ts'
import { readEvents } from '../support/sse.ts'
import { insertUser } from '../support/users.ts'

describe('kill -9 of the worker in the middle of an answer', () => {
  const service = useModelService({ worker: false })
  let worker: ServiceProcess

  beforeAll(async () => {
    worker = await startWorkerProcess(service.env)
  })
  afterAll(async () => {
    await worker.stop()
  })

  it('leaves the stream open; the answer completes under one message id, and the thread contains it once', async () => {
    const client = await insertUser(service)
    const { assistant_id } = await client.post('/assistants/', { name: 'Helper' })
    const { thread_id } = await client.post('/threads/', {})
    const never = new Promise<never>(() => {})
    const cut = service.model.reply({ text: ['One ', 'two ', never] })
    service.model.reply({ text: ['One ', 'two ', 'three.'] })

    const response = await client.fetch('POST', '/runs/stream', {
      thread_id,
      assistant_id,
      input: [{ type: 'human', content: 'Count' }],
    })
    const texts: string[] = []
    const ids = new Set<string>()
    let killed = false
    const names: string[] = []
    for await (const { event, data } of readEvents(response)) {
      names.push(event)
      if (event !== 'data') continue
      for (const message of JSON.parse(data)) {
        ids.add(message.data.id)
        texts.push(message.data.content)
      }
      if (!killed && texts.at(-1) === 'One two ') {
        killed = true
        await worker.kill()
        worker = await startWorkerProcess(service.env)
      }
    }

    expect(killed).toBe(true)
    expect(await cut.ended).toBe('dropped')
    expect(names.slice(0, 2)).toEqual(['start', 'metadata'])
    expect(names.at(-1)).toBe('end')
    expect(ids.size).toBe(1)
    for (const text of texts) expect('One two three.'.startsWith(text)).toBe(true)
    expect(texts.at(-1)).toBe('One two three.')
    const { values } = await client.get(`/threads/${thread_id}/state`)
    expect(values.messages.map((message: any) => message.data.content)).toEqual(['Count', 'One two three.'])
    expect(service.model.unused).toBe(0)
  })
})
