import { JsonLimitError, parseForeignJson } from '../../domain/foreign-json.ts'
import { isJsonObject } from '../../domain/json.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import { reasonOf } from '../../domain/reason-of.ts'
import type { ModelServers, ServerAccount } from '../models/model-servers.ts'
import type { ChatModel, ChatRequest, ModelDelta } from '../runs/chat-model.ts'

interface TryModelDeps {
  chat: ChatModel
  servers: ModelServers
  /** The context window by which conversations are cut if neither operator nor server names one. */
  listedWindow(model: string, account: ServerAccount): number
}

export interface Trial {
  works: boolean
  ms: number
  /** Why it does not work; may quote the server, without keys. */
  problem: string | null
}

export interface ModelTrial {
  model: string
  streaming: Trial & { first_token_ms: number | null; tokens_per_second: number | null }
  tools: Trial
  json: Trial
  embeddings: Trial & { dimensions: number | null }
  context_tokens: number
  /** Whether the server names its window. */
  context_source: 'server' | 'known'
}

/** A server may load the model with the first question. */
const firstMs = 90_000
const eachMs = 45_000
const answerTokens = 200
const answerMaxBytes = 64 * 1024

/** Finds out what a model can do, by short questions. Nothing of them is stored. */
export function createTryModel({ chat, servers, listedWindow }: TryModelDeps) {
  return async function tryModel(account: ServerAccount, model: string): Promise<ModelTrial> {
    const ask = (question: Partial<Omit<ChatRequest, 'account'>>, ms: number) =>
      questionTo({ account, model, ...question }, ms)
    const streaming = await tryStreaming(ask)
    const [tools, json, embeddings, window] = await Promise.all([
      trial(() => tryTools(ask)),
      trial(() => tryJson(ask)),
      tryEmbeddings(account, model),
      windowOf(account, model),
    ])
    return {
      model,
      streaming,
      tools,
      json,
      embeddings,
      context_tokens: window ?? listedWindow(model, account),
      context_source: window === undefined ? 'known' : 'server',
    }
  }

  function questionTo(
    { account, ...asked }: Partial<Omit<ChatRequest, 'account'>> & { account: ServerAccount; model: string },
    ms: number,
  ): AsyncIterable<ModelDelta> {
    return chat.stream({
      messages: [],
      tools: [],
      temperature: undefined,
      maxTokens: answerTokens,
      sampling: {},
      responseFormat: undefined,
      signal: AbortSignal.timeout(ms),
      ...asked,
      account: { ...account, setByUser: false },
    })
  }

  async function tryEmbeddings(account: ServerAccount, model: string): Promise<ModelTrial['embeddings']> {
    let dimensions: number | null = null
    const result = await trial(async () => {
      dimensions = await servers.embeddingLength(account, model, AbortSignal.timeout(eachMs))
      return undefined
    })
    return { ...result, dimensions }
  }

  async function windowOf(account: ServerAccount, model: string): Promise<number | undefined> {
    try {
      const { models } = await servers.list(account, AbortSignal.timeout(eachMs))
      return models.find(({ id }) => id === model)?.contextTokens
    } catch {
      return undefined
    }
  }
}

const weather = {
  name: 'weather',
  description: 'The weather in a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
}

const sumFormat = {
  type: 'json_schema' as const,
  json_schema: {
    name: 'sum',
    strict: true,
    schema: {
      type: 'object',
      properties: { sum: { type: 'integer' } },
      required: ['sum'],
      additionalProperties: false,
    },
  },
}

function question(content: string) {
  return { role: 'user' as const, content }
}

function parsed(text: string): unknown {
  try {
    return parseForeignJson(text, { bytes: answerMaxBytes })
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof JsonLimitError) return undefined
    throw error
  }
}

type Ask = (question: Partial<Omit<ChatRequest, 'account'>>, ms: number) => AsyncIterable<ModelDelta>

async function tryStreaming(ask: Ask): Promise<ModelTrial['streaming']> {
  const begin = performance.now()
  let firstMsAfter: number | undefined
  let pieces = 0
  let tokens = 0
  const result = await trial(async () => {
    for await (const delta of ask({ messages: [question('Count from one to twenty, in words.')] }, firstMs)) {
      if (delta.type === 'text') pieces += 1
      if (delta.type === 'text') firstMsAfter ??= Math.round(performance.now() - begin)
      if (delta.type === 'usage') tokens = delta.usage.completion_tokens
    }
    if (pieces === 0) return 'The answer was empty.'
    return pieces === 1 ? 'The answer came in one piece.' : undefined
  })
  const seconds = (result.ms - (firstMsAfter ?? 0)) / 1000
  return {
    ...result,
    first_token_ms: firstMsAfter ?? null,
    tokens_per_second: tokens > 1 && seconds > 0.01 ? Math.round((tokens / seconds) * 10) / 10 : null,
  }
}

async function tryTools(ask: Ask): Promise<string | undefined> {
  let name = ''
  let args = ''
  const members = { messages: [question('What is the weather in Paris? Use the tool.')], tools: [weather] }
  for await (const delta of ask(members, eachMs)) {
    if (delta.type === 'call' && delta.name) name = delta.name
    if (delta.type === 'call') args += delta.args ?? ''
  }
  if (name === '') return 'It did not call the tool.'
  return name === weather.name && isJsonObject(parsed(args)) ? undefined : 'It called the tool in a wrong way.'
}

async function tryJson(ask: Ask): Promise<string | undefined> {
  let text = ''
  const members = { messages: [question('What is two plus three? Answer as JSON.')], responseFormat: sumFormat }
  for await (const delta of ask(members, eachMs)) if (delta.type === 'text') text += delta.text
  const answer = parsed(text)
  return isJsonObject(answer) && typeof answer['sum'] === 'number' ? undefined : 'The answer does not match the schema.'
}

/** `work` returns what is wrong, or nothing if it works. */
async function trial(work: () => Promise<string | undefined>): Promise<Trial> {
  const begin = performance.now()
  const problem = await work().catch((error: unknown) => problemOf(error))
  return { works: problem === undefined, ms: Math.round(performance.now() - begin), problem: problem ?? null }
}

function problemOf(error: unknown): string {
  if (error instanceof ModelFailure) return error.details ? `${error.message} ${error.details}` : error.message
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'The server did not answer in time.'
  return reasonOf(error)
}
