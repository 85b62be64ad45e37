import { beforeAll, describe, expect, it } from 'vitest'
import { useModelService } from '../support/model-service.ts'
import { installTimeoutMs } from '../support/python-packages.ts'
import type { ChatRequest, ScriptedReply } from '../support/scripted-model.ts'
import { assistantAgents } from './frameworks/run-framework.ts'
import { v1Client } from './v1-client.ts'

const text = 'It is sunny in Paris.'
const timeoutMs = installTimeoutMs + 180_000

/** Other people's applications of the assistants interface: what they poll, stream and delete is theirs to decide. */
describe('agents built on the assistants interface, with address and key only', () => {
  const service = useModelService({ env: { EMBEDDING_DIMENSIONS: '64' }, respond })
  let given: { BASE_URL: string; KEY: string; MODEL: string }
  beforeAll(async () => {
    const { client } = await v1Client(service)
    given = { BASE_URL: `${service.url}/v1`, KEY: client.apiKey ?? '', MODEL: 'scripted' }
  })

  it(
    "Semantic Kernel's agent calls functions, streams, searches files and deletes what it made",
    async () => {
      const { fileSearch, ...seen } = (await assistantAgents.semanticKernel(given)) as {
        fileSearch: { text: string; deleted: boolean }
      }
      expect(seen).toEqual({
        tools: { text, called: ['Paris'] },
        streamed: { text, called: ['Paris', 'Paris'] },
      })
      expect(fileSearch).toEqual({ text: 'The harbour opens at nine.', deleted: true })
    },
    timeoutMs,
  )

  it(
    "LangChain's runnable answers in one thread, and its executor calls tools",
    async () => {
      expect(await assistantAgents.langchain(given)).toEqual({
        text: 'You said: Hello',
        sameThread: 'You said: Hello again',
        tools: { text, called: ['Paris'] },
      })
    },
    timeoutMs,
  )

  it(
    "LlamaIndex's agent calls tools",
    async () => {
      expect(await assistantAgents.llamaIndex(given)).toEqual({ tools: { text, called: ['Paris'] } })
    },
    timeoutMs,
  )
})

/** Calls the one tool that it is given, whatever the framework calls it, and says what it answered. */
function respond({ body: { messages, tools = [] } }: ChatRequest): ScriptedReply {
  const last = String(messages.at(-1)?.content)
  const name = tools[0]?.function.name
  if (name === undefined) return { text: ['You said: ', last] }
  if (messages.at(-1)?.role === 'tool')
    return { text: last.includes('opens at nine') ? 'The harbour opens at nine.' : ['It is ', last, ' in Paris.'] }
  const args = name === 'retrieval' ? { query: 'harbour opens' } : { city: 'Paris' }
  return { toolCalls: [{ name, arguments: args }] }
}
