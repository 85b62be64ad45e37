import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useModelService } from '../support/model-service.ts'
import { type ServiceProcess, startApiProcess, startWorkerProcess } from '../support/processes.ts'
import { v1Client } from '../v1/v1-client.ts'

describe('kill -9 of the API and the worker in the middle of a response in the background', () => {
  const service = useModelService({ worker: false })
  const env = () => service.env
  let worker: ServiceProcess
  let api: Awaited<ReturnType<typeof startApiProcess>>

  beforeAll(async () => {
    ;[worker, api] = await Promise.all([startWorkerProcess(service.env), startApiProcess(env())])
  })
  afterAll(async () => {
    await Promise.all([worker.stop(), api.stop()])
  })

  it('loses nothing, and the stream goes on from where it was cut', async () => {
    const { client } = await v1Client(service)
    const at = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey: client.apiKey, maxRetries: 0 })
    const never = new Promise<never>(() => {})
    service.model.reply({ text: ['One ', 'two three ', never] })
    service.model.reply({ text: ['One tw', 'o three four ', 'five.'] })
    const request = { model: 'scripted', input: 'Count', background: true, stream: true } as const
    let text = ''
    let number = -1
    let id = ''
    const read = async (stream: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>) => {
      for await (const event of stream) {
        expect(event.sequence_number).toBe(number + 1)
        number = event.sequence_number
        if (event.type === 'response.created') ({ id } = event.response)
        if (event.type === 'response.output_text.delta') text += event.delta
        if (event.type === 'response.completed') return 'completed'
        if (text === 'One two three') return 'half'
      }
      return 'cut'
    }
    expect(await read(await at(api.url).responses.create(request))).toBe('half')
    await Promise.all([api.kill(), worker.kill()])
    ;[worker, api] = await Promise.all([startWorkerProcess(service.env), startApiProcess(env())])
    const rest = await at(api.url).responses.retrieve(id, { stream: true, starting_after: number })
    expect(await read(rest)).toBe('completed')
    expect(text).toBe('One two three four five.')
    expect(await at(api.url).responses.retrieve(id)).toMatchObject({ status: 'completed', output_text: text })
    expect(service.model.unused).toBe(0)
  })
})
