import { type AIMessage, messagesFromJson } from '../../domain/messages.ts'
import type { ModelUsage, RunRecord, Usage } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'
import { logStore } from '../stores/log.ts'

/** The token usage of several answers together, without other members; undefined if there is none. */
export function sumUsage(usages: Usage[]): Usage | undefined {
  if (usages.length === 0) return undefined
  const sum = (member: keyof Usage) => usages.reduce((total, usage) => total + (usage[member] ?? 0), 0)
  const [cached, written, reasoning] = [sum('cached_tokens'), sum('cache_write_tokens'), sum('reasoning_tokens')]
  return {
    prompt_tokens: sum('prompt_tokens'),
    completion_tokens: sum('completion_tokens'),
    total_tokens: sum('total_tokens'),
    ...(cached > 0 ? { cached_tokens: cached } : {}),
    ...(written > 0 ? { cache_write_tokens: written } : {}),
    ...(reasoning > 0 ? { reasoning_tokens: reasoning } : {}),
  }
}

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

/** What a run stores of its tokens. */
export type RunUsage = Pick<RunRecord, 'usage' | 'usage_by_model'>

/** The tokens of a run by the model that counted them: of its steps, and of attempts without a stored answer. */
export async function usageByModel(
  collections: Pick<Collections, 'checkpoints'>,
  run: Pick<RunRecord, '_id' | 'thread_id' | 'model' | 'spent'>,
  last?: AIMessage,
): Promise<ModelUsage[]> {
  return sumByModel([...(await usageOfSteps(collections, run, last)), ...(run.spent ?? [])])
}

/** Tokens of the stored steps of a run, and of a last answer that is not stored yet, by the model that counted them. */
async function usageOfSteps(
  collections: Pick<Collections, 'checkpoints'>,
  run: Pick<RunRecord, '_id' | 'thread_id' | 'model'>,
  last?: AIMessage,
): Promise<ModelUsage[]> {
  const entries = await logStore(collections).listSteps(run)
  const { model: runModel = '' } = run
  const stored = entries.flatMap(({ messages_json: json, model = runModel }) =>
    messagesFromJson(json)
      .filter((message) => message.data.id !== last?.data.id)
      .flatMap((message) => usageOfMessage(message, model)),
  )
  return sumByModel([...stored, ...(last ? usageOfMessage(last, runModel) : [])])
}

export function sumByModel(all: ModelUsage[]): ModelUsage[] {
  return [...Map.groupBy(all, ({ model }) => model)].flatMap(([model, usages]) => {
    const sum = sumUsage(usages)
    return sum === undefined ? [] : [{ model, ...sum }]
  })
}

/** Nothing if the model counted none. A run of one model stores only the sum. */
export function runUsage(byModel: ModelUsage[]): RunUsage {
  const usage = sumUsage(byModel)
  return {
    ...(usage === undefined ? {} : { usage }),
    ...(byModel.length > 1 ? { usage_by_model: byModel } : {}),
  }
}

/** As `runUsage` for a run without a last answer, whose record does not name a model. */
export function usageOfEnded(
  run: Pick<RunRecord, 'model'>,
  byModel: ModelUsage[],
): RunUsage & Pick<RunRecord, 'model'> {
  const model = run.model ?? byModel.at(-1)?.model
  return { ...runUsage(byModel), ...(model === undefined ? {} : { model }) }
}

export function usageOfMessage(message: Pick<AIMessage, 'data'> | { type: string }, model: string): ModelUsage[] {
  return 'data' in message && message.data.usage !== undefined ? [{ ...message.data.usage, model }] : []
}

/** A run ends before its final answer, because its steps have used up a limit that its caller set. */
export class RunLimitError extends Error {
  readonly type: 'max_prompt_tokens' | 'max_completion_tokens'

  constructor(type: RunLimitError['type'], limit: number) {
    super(`The run used up its limit of tokens: ${type} is ${limit}.`)
    this.name = 'RunLimitError'
    this.type = type
  }
}

/** Tokens that a run may still use; undefined: as many as the model takes. */
export interface TokensLeft {
  prompt: number | undefined
  completion: number | undefined
}

/** Throws `RunLimitError` if the steps so far have used up a limit of the run. */
export async function tokensLeftFor(
  { collections }: { collections: Pick<Collections, 'checkpoints'> },
  run: RunRecord,
  { step, usages }: { step: number; usages: ModelUsage[] | undefined },
): Promise<TokensLeft> {
  const { max_prompt_tokens: prompt, max_completion_tokens: completion } = run.overrides
  if (step === 0 || (prompt === undefined && completion === undefined)) return { prompt, completion }
  const used = sumUsage(usages ?? (await usageOfSteps(collections, run)))
  return {
    prompt: left('max_prompt_tokens', prompt, used?.prompt_tokens),
    completion: left('max_completion_tokens', completion, used?.completion_tokens),
  }
}

function left(name: 'max_prompt_tokens' | 'max_completion_tokens', limit: number | undefined, used = 0) {
  if (limit !== undefined && used >= limit) throw new RunLimitError(name, limit)
  return limit === undefined ? undefined : limit - used
}
