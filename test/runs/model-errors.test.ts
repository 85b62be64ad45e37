import { describe, expect, it } from 'vitest'
import { useModelService } from '../support/model-service.ts'
import { conversation } from './support.ts'

describe('a model that fails', () => {
  const service = useModelService()

  it('is asked again after 429, 500 and a broken connection; the answer replaces what was cut off', async () => {
    const talk = await conversation(service)
    service.model.reply({ status: 429, retryAfterSeconds: 1 })
    service.model.reply({ status: 500 })
    service.model.reply({ text: ['Cut '], breakConnection: true })
    service.model.reply({ text: ['Whole ', 'answer'] })
    const run = await talk.stream('Try')
    expect(run.end).toBe('end')
    expect(run.messages).toHaveLength(1)
    expect(run.messages[0].data.content).toBe('Whole answer')
    expect((await talk.messages()).map(({ data }) => data.content)).toEqual(['Try', 'Whole answer'])
  })

  it('is not asked again after a 400: the run ends with the four members, the thread with status error', async () => {
    const talk = await conversation(service)
    service.model.reply({ status: 400, errorMessage: 'temperature is silly, key sk-abcdef123456' })
    const run = await talk.stream('Try')
    expect(run.end).toBe('error')
    expect(Object.keys(run.error).toSorted()).toEqual(['details', 'message', 'status_code', 'type'])
    expect(run.error.status_code).toBe(400)
    expect(run.error.details).toContain('temperature is silly')
    expect(JSON.stringify(run.error)).not.toContain('abcdef123456')
    expect(await talk.client.get(`/runs/${run.runId}`)).toMatchObject({ status: 'error', error: run.error })
    expect((await talk.client.get(`/threads/${talk.threadId}`)).status).toBe('error')
    expect((await talk.messages()).map(({ data }) => data.content)).toEqual(['Try'])
    expect(service.model.unused).toBe(0)

    service.model.reply({ text: 'Better' })
    expect((await talk.stream('Again')).end).toBe('end')
    expect((await talk.client.get(`/threads/${talk.threadId}`)).status).toBe('idle')
  })

  it('keeps what was said before the failure, marked', async () => {
    const talk = await conversation(service)
    service.model.reply({ text: ['I was saying '], breakConnection: true })
    service.model.reply({ status: 400 })
    const run = await talk.stream('Speak')
    expect(run.end).toBe('error')
    const messages = await talk.messages()
    expect(messages.map(({ data }) => data.content)).toEqual(['Speak', 'I was saying '])
    expect(messages[1].data.incomplete).toBe(true)
  })

  it('says that a conversation is too long for it', async () => {
    const talk = await conversation(service)
    service.model.reply({ status: 400, errorMessage: "This model's maximum context length is 10 tokens" })
    const run = await talk.stream('A long story')
    expect(run.error).toMatchObject({ type: 'context_length_exceeded' })
  })
})
