import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { parseOwnJson } from '../../domain/json.ts'
import type { NativeKind } from '../../domain/model-providers.ts'
import { createModelByKind } from '../../infra/model/routed-model.ts'
import { nativeOriginOf } from '../../infra/model/wire-messages.ts'
import type { PromptMessage, PromptToolCall } from '../../services/runs/chat-model.ts'
import { conversation } from './litellm/conversation.ts'

const recorded: Record<string, { path: string; body: unknown }> = parseOwnJson(
  readFileSync(path.join(import.meta.dirname, 'litellm', 'sent.json'), 'utf8'),
)
const models = {
  anthropic: 'claude-sonnet-4-5',
  google: 'gemini-3-pro-preview',
  bedrock: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
  mistral: 'magistral-medium-latest',
} as const
const thought = 'The user asks for the weather.'
const signed: Partial<Record<NativeKind, object>> = {
  anthropic: { anthropic: { signature: 'c2lnbmF0dXJl' } },
  bedrock: { bedrock: { signature: 'c2lnbmF0dXJl' } },
}

test.each(['anthropic', 'google', 'bedrock', 'mistral'] as const)('%s is sent what LiteLLM sends', async (kind) => {
  const sent: { path: string; body: unknown }[] = []
  const baseUrl = 'https://gateway.example'
  const record: typeof fetch = async (url, init) => {
    const { pathname, search } = new URL(url instanceof Request ? url.url : url)
    sent.push({ path: pathname + search, body: JSON.parse(typeof init?.body === 'string' ? init.body : '') })
    return Response.json({ error: { message: 'only recorded' } }, { status: 400 })
  }
  const model = createModelByKind({ ownFetch: record, guardedFetch: record, silenceMs: 10_000 })
  const asked = model.stream({
    account: {
      kind,
      apiKey: 'sk-test-key',
      baseUrl: kind === 'anthropic' || kind === 'mistral' ? `${baseUrl}/v1` : baseUrl,
      setByUser: false,
    },
    model: models[kind],
    messages: promptFor(kind, baseUrl),
    tools: conversation.tools.map((tool) => ({ ...tool.function, parameters: plain(tool.function.parameters) })),
    temperature: undefined,
    maxTokens: 4000,
    sampling: {},
    responseFormat: undefined,
    signal: new AbortController().signal,
  })
  await expect(Array.fromAsync(asked)).rejects.toThrow('The model refused the request.')
  expect(sent).toHaveLength(1)
  expect(sent[0]?.path).toBe(recorded[kind]?.path)
  expect(comparable(sent[0]?.body)).toEqual(comparable(recorded[kind]?.body))
})

/** The same conversation as the service keeps it. */
function promptFor(kind: NativeKind, baseUrl: string): PromptMessage[] {
  const address = kind === 'anthropic' || kind === 'mistral' ? `${baseUrl}/v1` : baseUrl
  const origin = nativeOriginOf(kind, { baseUrl: address, model: models[kind as keyof typeof models] })
  const options = signed[kind]
  const pieces = [
    ...(kind === 'google' ? [] : [{ type: 'reasoning', chars: thought.length, ...(options && { options }) }]),
    { type: 'text', chars: 'I look it up.'.length },
    { type: 'call', index: 0 },
    { type: 'call', index: 1 },
  ]
  return conversation.messages.map((message): PromptMessage => {
    switch (message.role) {
      case 'user':
        return { role: 'user', content: typeof message.content === 'string' ? message.content : plain(message.content) }
      case 'assistant': {
        const calls: PromptToolCall[] = plain(message.tool_calls)
        const provider = { origin, members: { pieces } }
        return { role: 'assistant', content: message.content, reasoning: thought, tool_calls: calls, provider }
      }
      default:
        return message
    }
  })
}

/** A copy that may be changed. */
const plain = (value: unknown): any => structuredClone(value)

/** Members that say nothing else in the one than in the other: marks for caches, wishes for thinking, defaults. */
const left = new Set([
  'cache_control',
  'additionalModelResponseFieldPaths',
  'eager_input_streaming',
  'closed',
  'thinkingConfig',
  // Google documents a word in place of a signature; LiteLLM sends it in base64, and with the first call only.
  'thoughtSignature',
])

function comparable(value: unknown, name = ''): unknown {
  if (Array.isArray(value))
    return value.filter((one) => !('cachePoint' in Object(one))).map((one) => comparable(one, name))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
    .filter(([key, one]) => !left.has(key) && !isRepeated(key, value) && !(key === 'type' && one === 'custom'))
    .map(([key, one]) => spelled(key, one))
  return Object.fromEntries(members)
}

/** The name of a tool beside its result, which the id of the call says, too. */
function isRepeated(key: string, { ...others }: object): boolean {
  return key === 'name' && 'content' in others
}

/** Forms of one member that a provider documents side by side. */
function spelled(key: string, value: unknown): [string, unknown] {
  if (key === 'parametersJsonSchema') return ['parameters', comparable(value)]
  if (key === 'image_url' && typeof value === 'string') return ['imageUrl', { url: value }]
  const [only, ...others] = Array.isArray(value) ? value : []
  if (key === 'content' && others.length === 0 && only?.type === 'text') return ['content', only.text]
  return [camel(key), comparable(value, key)]
}

function camel(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase())
}
