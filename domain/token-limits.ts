/** Tokens kept free for an answer without a limit. */
const defaultAnswerTokens = 4096
/** Models count tokens with their own encodings, so keep a margin. */
const countingMargin = 0.1

/** How a model's context window is divided: tokens for the question, and for the answer that is expected. */
export function tokenLimits(
  window: number,
  maxTokens: number | undefined,
): { questionTokens: number; answerTokens: number } {
  const answerTokens = maxTokens ?? Math.min(defaultAnswerTokens, window / 4)
  return { questionTokens: window * (1 - countingMargin) - answerTokens, answerTokens }
}
