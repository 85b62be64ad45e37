import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { AIMessage, HumanMessage, SystemMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, streamText } from 'ai'
import { beforeAll, describe, expect, it } from 'vitest'
import { useSharedService } from '../support/shared-service.ts'
import { newPublicAssistant } from './public-assistant.ts'

describe.each(['/public/compat/v1', '/public/v1'])('other clients at %s, with address and key only', (base) => {
  const service = useSharedService()
  let apiKey: string
  let baseURL: string

  beforeAll(async () => {
    apiKey = (await newPublicAssistant(service)).token
    baseURL = `${service.url}${base}`
  })
  const usage = { prompt_tokens: 21, completion_tokens: 4 }

  it("LangChain's ChatOpenAI invokes and streams", async () => {
    const chat = new ChatOpenAI({ model: 'helper', apiKey, configuration: { baseURL }, maxRetries: 0 })
    service.model.reply({ text: ['From ', 'afar'], usage })
    const answer = await chat.invoke([new SystemMessage('Rhyme.'), new HumanMessage('Hi'), new AIMessage('Yes?')])
    expect(answer.text).toBe('From afar')
    expect(answer.usage_metadata).toMatchObject({ input_tokens: 21, output_tokens: 4, total_tokens: 25 })
    // The assistant's instructions and the caller's are one system message.
    expect(service.model.requests.at(-1)?.body.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
    ])

    service.model.reply({ text: ['In ', 'pie', 'ces'], usage })
    let text = ''
    let total = 0
    for await (const chunk of await chat.stream('Hi')) {
      text += chunk.text
      total += chunk.usage_metadata?.total_tokens ?? 0
    }
    expect([text, total]).toEqual(['In pieces', 25])
  })

  it('the AI SDK generates and streams', async () => {
    const provider = createOpenAICompatible({ name: 'helper', baseURL, apiKey, includeUsage: true })
    service.model.reply({ text: ['From ', 'afar'], usage })
    const generated = await generateText({ model: provider('helper'), prompt: 'Hi', maxRetries: 0 })
    expect(generated.text).toBe('From afar')
    expect(generated.finishReason).toBe('stop')
    expect(generated.usage).toMatchObject({ inputTokens: 21, outputTokens: 4, totalTokens: 25 })

    service.model.reply({ text: ['In ', 'pie', 'ces'], usage })
    const streamed = streamText({ model: provider('helper'), prompt: 'Hi', maxRetries: 0 })
    expect((await Array.fromAsync(streamed.textStream)).join('')).toBe('In pieces')
    expect(await streamed.finishReason).toBe('stop')
    expect(await streamed.usage).toMatchObject({ totalTokens: 25 })
  })

  it('the AI SDK reports a failure in the middle of a stream', async () => {
    const provider = createOpenAICompatible({ name: 'helper', baseURL, apiKey })
    service.model.reply({ status: 400, errorMessage: 'no' })
    const errors: unknown[] = []
    const { fullStream } = streamText({
      model: provider('helper'),
      prompt: 'Hi',
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    })
    const parts = await Array.fromAsync(fullStream)
    expect(parts.map(({ type }) => type)).toContain('error')
    expect(errors.length).toBe(1)
  })
})
