import type { ModelToolChoice } from '../../domain/client-tools.ts'
import type { CutReason, TokenLogprob } from '../../domain/messages.ts'
import type { ProviderKind } from '../../domain/model-providers.ts'
import type { SamplingParameters, Usage } from '../../domain/records/run.ts'
import type { ResponseFormat } from '../../domain/response-format.ts'
import type { PromptPart } from '../attachments/prompt-parts.ts'
import type { JsonSchema } from '../tool.ts'

/** The model of a run, and the account that pays. */
export interface ModelAccount {
  /** Default: `openai-compatible`. */
  kind?: ProviderKind | undefined
  baseUrl: string | undefined
  apiKey: string
  /** Whether a user gave the address: then it is reached only through the guard against private networks. */
  setByUser: boolean
}

/** A message in the format of the chat-completions API. */
export type PromptMessage =
  | { role: 'system'; content: string; name?: string }
  | { role: 'user'; content: string | PromptPart[]; name?: string }
  | {
      role: 'assistant'
      content: string | null
      name?: string
      tool_calls?: PromptToolCall[]
      /** What the model thought before it. */
      reasoning?: string
      provider?: ProviderMetadata
    }
  /** `shown`: pictures and files of the result. Adapters send them where their interface has a place for them. */
  | { role: 'tool'; content: string; tool_call_id: string; shown?: PromptPart[] }

/**
 * What a provider must get back unchanged with a message: signatures of thoughts, encrypted thinking, ids of its own.
 * Only the adapter that made it reads it, and sends it only where it came from.
 */
export interface ProviderMetadata {
  /** The server and family of models. */
  origin: string
  members: Record<string, unknown>
}

export interface PromptToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

export interface ChatRequest {
  account: ModelAccount
  model: string
  messages: PromptMessage[]
  tools: { name: string; description: string; parameters: JsonSchema; strict?: boolean }[]
  /** Undefined: the model chooses. */
  toolChoice?: ModelToolChoice | undefined
  parallelToolCalls?: boolean | undefined
  logitBias?: Record<string, number> | undefined
  temperature: number | undefined
  maxTokens: number | undefined
  sampling: SamplingParameters
  responseFormat: ResponseFormat | undefined
  /** Members that the caller of the run set: one that the model does not take is refused to the caller. */
  setByCaller?: readonly string[]
  signal: AbortSignal
}

/** A piece of a model's answer. */
export type ModelDelta =
  /** Another model than that of the request answers; comes before everything else. */
  | { type: 'model'; model: string }
  | { type: 'text'; text: string }
  /** What the model thinks before it answers. */
  | { type: 'reasoning'; text: string }
  /** What was text and what was thinking turned out otherwise: both so far, anew. */
  | { type: 'restart'; reasoning: string; text: string }
  /** Why the model does not answer. */
  | { type: 'refusal'; text: string }
  | { type: 'call'; index: number; id?: string; name?: string; args?: string }
  | { type: 'logprobs'; tokens: TokenLogprob[] }
  | { type: 'usage'; usage: Usage }
  /** Comes last. */
  | { type: 'provider'; metadata: ProviderMetadata }
  /** The answer was cut off: by the token limit, or by the provider's filter. */
  | { type: 'cut'; reason: CutReason }

/** What a model itself says. */
export type AnswerDelta = Exclude<ModelDelta, { type: 'model' }>

export interface ChatModel {
  /** Throws `ModelFailure`. */
  stream(request: ChatRequest): AsyncIterable<ModelDelta>
}

/**
 * Counts the tokens of each text, one after the other, until the sum exceeds `limit`: the last count may cover only
 * a beginning, and later texts have none.
 */
export type CountTokens = (
  texts: string[],
  limit: number,
  turn: { userId: string; signal: AbortSignal },
) => Promise<number[]>
