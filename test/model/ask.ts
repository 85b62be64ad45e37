import { createChatModel } from '../../infra/model/chat.ts'
import { createDialects } from '../../infra/model/dialects.ts'
import { createAnswer } from '../../services/runs/answer.ts'
import type { ChatRequest, ModelDelta } from '../../services/runs/chat-model.ts'

/** A server by its habits: what it answers to a body, as chunks of a stream, as bytes, or as a refusal. */
export type Server = (body: any) => unknown[] | string | { status: number; body: unknown }

/** A model before such a server, and what the server was sent. */
export function modelBefore(server: Server, { baseUrl = 'http://127.0.0.1/v1' } = {}) {
  const sent: any[] = []
  const dialects = createDialects()
  const ownFetch: typeof fetch = async (_url, init) => {
    const body: unknown = JSON.parse(typeof init?.body === 'string' ? init.body : '{}')
    sent.push(body)
    const answer = server(body)
    if (Array.isArray(answer)) return new Response(eventsOf(answer))
    if (typeof answer === 'string') return new Response(answer)
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)
    return new Response(text, { status: answer.status, headers: { 'content-type': 'application/json' } })
  }
  const model = createChatModel({ ownFetch, guardedFetch: ownFetch, silenceMs: 10_000, dialects })
  return {
    sent,
    dialects,
    /** The whole answer, as a run would store it, and its pieces. */
    async ask(request: Partial<ChatRequest> = {}) {
      const answer = createAnswer('run-0')
      const deltas: ModelDelta[] = []
      for await (const delta of model.stream({ ...usualRequest(baseUrl), ...request })) {
        deltas.push(delta)
        if (delta.type !== 'model') answer.add(delta)
      }
      const { id: _id, ...message } = answer.message().data
      const usage = deltas.findLast((delta) => delta.type === 'usage')?.usage
      return { ...message, usage, deltas, metadata: answer.metadata, unreadable: [...answer.unreadableCalls()] }
    },
  }
}

export const eventsOf = (chunks: unknown[]): string =>
  `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`

export const chunk = (delta: unknown, finish: unknown = null, more: object = {}) => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
})
export const calls = (...pieces: unknown[]) => chunk({ tool_calls: pieces })
export const stop = chunk({}, 'stop')

/** What a model before a server that answers so is understood to say. */
export function readAnswer(answer: unknown[] | string) {
  return modelBefore(() => answer).ask()
}

function usualRequest(baseUrl: string): ChatRequest {
  return {
    account: { apiKey: 'none', baseUrl, setByUser: false },
    model: 'stub',
    messages: [{ role: 'user', content: 'Hello' }],
    tools: [],
    temperature: undefined,
    maxTokens: undefined,
    sampling: {},
    responseFormat: undefined,
    signal: new AbortController().signal,
  }
}
