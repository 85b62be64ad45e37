// What LangChain and LangGraph for Node see, as one JSON object: only an address and a key are given to them.
import { HumanMessage } from '@langchain/core/messages'
import { RunnableLambda } from '@langchain/core/runnables'
import { tool } from '@langchain/core/tools'
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent, providerStrategy } from 'langchain'
import { z } from 'zod'

const { BASE_URL: baseURL, KEY: apiKey, MODEL: model, API: api } = process.env
const newChat = (more = {}) =>
  new ChatOpenAI({ model, apiKey, configuration: { baseURL }, useResponsesApi: api === 'responses', ...more })

let called = []
const weather = tool(
  async ({ city }) => {
    called.push(city)
    return 'sunny'
  },
  { name: 'get_weather', description: 'The weather of a city', schema: z.object({ city: z.string() }) },
)
const seen = {}
const question = { messages: [new HumanMessage('The weather in Paris?')] }

const agent = createAgent({ model: newChat(), tools: [weather], systemPrompt: 'Be brief.' })
seen.tools = { text: (await agent.invoke(question)).messages.at(-1).text, called }

called = []
let text = ''
for await (const [chunk] of await agent.stream(question, { streamMode: 'messages' }))
  if (chunk.getType() === 'ai') text += chunk.text
seen.streamed = { text, called }

called = []
const chat = newChat().bindTools([weather])
const graph = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }) => ({ messages: [await chat.invoke(messages)] }))
  .addNode('tools', new ToolNode([weather]))
  .addEdge('__start__', 'model')
  .addConditionalEdges('model', toolsCondition)
  .addEdge('tools', 'model')
  .compile()
seen.graph = { text: (await graph.invoke(question)).messages.at(-1).text, called }

const answer = z.object({ city: z.string(), degrees: z.number() })
seen.structured = await newChat()
  .withStructuredOutput(answer, { method: 'jsonSchema', strict: true })
  .invoke('Measure.')
const measuring = createAgent({ model: newChat(), tools: [], responseFormat: providerStrategy(answer) })
seen.agentStructured = (await measuring.invoke(question)).structuredResponse

seen.retried = (await newChat().invoke('cut before langchain')).text
const inStream = RunnableLambda.from(async (asked) => {
  let whole = ''
  for await (const chunk of await newChat({ maxRetries: 0 }).stream(asked)) whole += chunk.text
  return whole
})
seen.streamRetried = await inStream.withRetry({ stopAfterAttempt: 2 }).invoke('cut in the middle langchain')
console.log(JSON.stringify(seen))
