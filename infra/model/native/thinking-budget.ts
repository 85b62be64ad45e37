import type { NativeKind } from '../../../domain/provider-kinds.ts'
import type { ChatRequest } from '../../../services/runs/chat-model.ts'

/** Of the tokens of an answer, how many may be thinking. */
const shares = { low: 0.2, medium: 0.5, high: 0.75, xhigh: 0.85 } as const

/** Less is refused. */
const leastBudget = 1024

/**
 * Claude up to 4.5 is told how many tokens it may think, which its provider package adds to the limit of the answer. Here
 * they are a part of it, because a limit counts thinking. Undefined for models that are told in words, and without limit.
 */
export function thinkingBudget(
  { model, maxTokens, sampling }: Pick<ChatRequest, 'model' | 'maxTokens' | 'sampling'>,
  kind: NativeKind,
): number | undefined {
  const effort = sampling.reasoning_effort
  const isTold = /claude-(?:3-7-|(?:sonnet|opus|haiku)-4-(?:20\d{6}|[0-5](?!\d)))/.test(model)
  if ((kind !== 'anthropic' && kind !== 'bedrock') || !isTold || maxTokens === undefined) return undefined
  if (effort === undefined || effort === 'none' || effort === 'minimal') return undefined
  const budget = Math.max(leastBudget, Math.floor(maxTokens * shares[effort]))
  // Too few tokens for a thought and an answer: it only answers.
  return budget >= maxTokens ? 0 : budget
}
