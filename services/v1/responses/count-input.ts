import type { Message } from '../../../domain/messages.ts'
import type { CountTokens } from '../../runs/chat-model.ts'
import { fixedTokensOf, textOf } from '../../runs/index.ts'

/** About how many tokens a model is asked with: they are counted in one encoding for all models. */
export async function countInput(
  countTokens: CountTokens,
  { texts, messages }: { texts: string[]; messages: Message[] },
  turn: { userId: string; signal: AbortSignal },
): Promise<number> {
  const all = [...texts.filter((text) => text !== ''), ...messages.map(textOf)]
  const counts = await countTokens(all, Number.MAX_SAFE_INTEGER, turn)
  return counts.reduce((sum, count) => sum + count, fixedTokensOf(messages))
}
