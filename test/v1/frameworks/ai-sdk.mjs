// What the AI SDK sees with its providers, as one JSON object: only an address and a key are given to it.
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateObject, generateText, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'

const { BASE_URL: baseURL, KEY: apiKey, MODEL: name, API: api } = process.env
globalThis.AI_SDK_LOG_WARNINGS = false
const openai = createOpenAI({ baseURL, apiKey })
const compatible = createOpenAICompatible({ name: 'helper', baseURL, apiKey, supportsStructuredOutputs: true })
const models =
  api === 'responses' ? { openai: openai.responses(name) } : { openai: openai.chat(name), compatible: compatible(name) }

const seen = {}
for (const [provider, model] of Object.entries(models)) {
  const called = []
  const get_weather = tool({
    description: 'The weather of a city',
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => {
      called.push(city)
      return 'sunny'
    },
  })
  const asked = { model, tools: { get_weather }, stopWhen: stepCountIs(3), prompt: 'The weather in Paris?' }
  const { text } = await generateText(asked)
  const streamed = streamText(asked)
  const pieces = await Array.fromAsync(streamed.textStream)
  const schema = z.object({ city: z.string(), degrees: z.number() })
  const { object } = await generateObject({ model, schema, prompt: 'How warm is Paris?' })
  const retried = await generateText({ model, prompt: `cut before ${provider}` })
  // It does not repeat a stream that has begun: the application is told, and asks again.
  const stream = async () => {
    let cut = 'no error'
    const result = streamText({ model, prompt: `cut in the middle ${provider}`, onError: () => (cut = 'error') })
    const isCut = () => (cut = 'error')
    const said = await Array.fromAsync(result.textStream).catch(isCut)
    if ((await Promise.resolve(result.finishReason).catch(isCut)) !== 'stop') isCut()
    return { cut, said: [said].flat().join('') }
  }
  const broken = await stream()
  const whole = await stream()
  seen[provider] = {
    text,
    streamed: pieces.join(''),
    reason: await streamed.finishReason,
    steps: (await streamed.steps).length,
    called,
    object,
    retried: retried.text,
    streamCut: broken.cut,
    askedAgain: whole.said,
  }
}
console.log(JSON.stringify(seen))
