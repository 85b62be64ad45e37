import type { ToolType } from '../../domain/tool-types.ts'
import { costOf } from '../../domain/model-prices.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunOverrides } from '../../domain/records/run.ts'
import { tokenLimits } from '../../domain/token-limits.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { ModelsNow } from '../models/live-models.ts'

export interface EstimateDeps {
  models: ModelsNow
  contextWindowOf(model: string): number
  assistantConfigs: Pick<AssistantConfigs, 'settingsOf'>
}

export interface ExpectedQuestion {
  assistant: AssistantRecord
  overrides?: RunOverrides
  /** Bytes of the conversation and of what is asked now; undefined if they are not known. */
  bytes?: number | undefined
}

/**
 * What one answer may cost: as many tokens as fit into the question, and the limit of the answer. Text has at most one
 * token a byte, so that a short conversation does not count as a whole window. With tools it does: nobody knows yet how
 * long their descriptions and results are. Only one step of the run is included.
 */
export function estimateOf(
  { models, contextWindowOf, assistantConfigs }: EstimateDeps,
  { assistant, overrides = {}, bytes = Infinity }: ExpectedQuestion,
): { tokens: number; money: number } {
  const { prices, defaultModel } = models.current()
  const settings = assistantConfigs.settingsOf(assistant)
  const { model = settings.model ?? defaultModel, system_message: systemMessage = settings.systemMessage } = overrides
  const window = contextWindowOf(model)
  const { questionTokens, answerTokens } = tokenLimits(window, overrides.max_tokens ?? overrides.max_completion_tokens)
  const texts = [systemMessage, overrides.instructions, overrides.response_format_json]
  const mayUse = (type: ToolType) => overrides.server_tools?.includes(type) ?? true
  const hasTools =
    overrides.tools_json !== undefined ||
    (assistant.has_files !== false && mayUse('retrieval')) ||
    settings.tools.some(({ type }) => type !== 'retrieval' && mayUse(type))
  const asked = (hasTools ? Infinity : bytes) + texts.reduce((total, text = '') => total + Buffer.byteLength(text), 0)
  const prompt = Math.ceil(Math.max(0, Math.min(questionTokens, asked)))
  // A caller may name any limit.
  const completion = Math.ceil(Math.min(answerTokens, window))
  const money = costOf(prices, model, { prompt_tokens: prompt, completion_tokens: completion })
  return { tokens: prompt + completion, money }
}
