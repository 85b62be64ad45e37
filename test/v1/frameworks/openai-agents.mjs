// What the OpenAI Agents SDK for Node sees, as one JSON object: only an address and a key are given to it.
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents'
import { z } from 'zod'

setTracingDisabled(true)
const { BASE_URL: baseURL, KEY: apiKey, MODEL: model, API: api } = process.env
const provider = new OpenAIProvider({ baseURL, apiKey, useResponses: api === 'responses' })
const runner = new Runner({ modelProvider: provider, tracingDisabled: true })

const called = []
const weather = tool({
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => {
    called.push(city)
    return 'sunny'
  },
})
const seen = {}
const helper = new Agent({ name: 'Helper', instructions: 'Be brief.', model, tools: [weather] })

const tools = await runner.run(helper, 'The weather in Paris?')
seen.tools = { text: tools.finalOutput, called: [...called] }

called.length = 0
const streamed = await runner.run(helper, 'The weather in Paris?', { stream: true })
let text = ''
for await (const event of streamed)
  if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') text += event.data.delta
await streamed.completed
seen.streamed = { text, final: streamed.finalOutput, called: [...called] }

const outputType = z.object({ city: z.string(), degrees: z.number() })
const measuring = new Agent({ name: 'Measuring', instructions: 'Measure.', model, outputType })
seen.structured = (await runner.run(measuring, 'How warm is Paris?')).finalOutput

const plain = new Agent({ name: 'Plain', instructions: 'Be brief.', model })
seen.retried = (await runner.run(plain, 'cut before agents')).finalOutput

// It does not repeat a stream that has begun: the application is told, and asks again.
const stream = async () => {
  const result = await runner.run(plain, 'cut in the middle agents', { stream: true })
  for await (const _event of result);
  await result.completed
  return result.finalOutput
}
seen.streamCut = await stream().then(
  () => 'no error',
  () => 'error',
)
seen.askedAgain = await stream()
console.log(JSON.stringify(seen))
