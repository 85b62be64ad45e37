import type { ModelUsage, RunRecord } from '../../domain/records/run.ts'
import { sumUsage } from '../../domain/sum-usage.ts'
import { usageOfSteps } from '../budgets/usage.ts'
import type { StepDeps } from './step-deps.ts'

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
  { collections }: StepDeps,
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
