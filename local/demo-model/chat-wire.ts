import { randomUUID } from 'node:crypto'

/** Types of the chat-completions API, following the `openai` package. */
export interface ToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

export interface TokenUsage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
}

export interface Delta {
  role?: 'assistant'
  content?: string | null
  refusal?: string
  tool_calls?: { index: number; id?: string; type?: 'function'; function: { name?: string; arguments?: string } }[]
}

export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter'

/** Builds the objects of one answer, which have the same id, time and model. */
export function answerShapes(model: string) {
  const head = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model }
  return {
    chunk: (delta: Delta, finishReason: FinishReason | null = null) => ({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    }),
    /** The last chunk of a stream whose request has `stream_options.include_usage`. */
    usageChunk: (usage: TokenUsage) => ({ ...head, object: 'chat.completion.chunk', choices: [], usage }),
    completion: (content: string | null, toolCalls: ToolCall[], finishReason: FinishReason, usage: TokenUsage) => ({
      ...head,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content,
            refusal: null,
            ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
          },
          logprobs: null,
          finish_reason: finishReason,
        },
      ],
      usage,
    }),
  }
}

export function usageOf(promptTokens: number, completionTokens: number): TokenUsage {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
}

/** One server-sent event of the stream. */
export function sseFrame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

export const sseDone = 'data: [DONE]\n\n'

/** The error body of this API. */
export function errorBody(message: string, type: string, code: string | null = null) {
  return { error: { message, type, param: null, code } }
}

export function embeddingList(model: string, vectors: number[][], format: 'float' | 'base64', promptTokens: number) {
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: format === 'base64' ? littleEndianBase64(vector) : vector,
    })),
    model,
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
  }
}

/** 32-bit floats in little-endian order, as clients of this API decode them. */
function littleEndianBase64(vector: number[]): string {
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4)
  return bytes.toString('base64')
}
