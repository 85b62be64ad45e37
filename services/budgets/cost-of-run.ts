import { type ModelPrices, costOf, priceOf } from '../../domain/model-prices.ts'
import type { ModelUsage, RunRecord } from '../../domain/records/run.ts'

export type EndedRun = Pick<
  RunRecord,
  '_id' | 'status' | 'budgets' | 'model' | 'usage' | 'usage_by_model' | 'last_data_event_id' | 'started_at'
>

/**
 * Whether an ended run counts as if it had never been started: it failed without an answer, or was cancelled before it
 * began. `usedRuns` says the same to the database.
 */
export function wasUnused(run: EndedRun): boolean {
  const hasShown = run.usage !== undefined || run.last_data_event_id !== undefined
  return !hasShown && (run.status === 'error' || (run.status === 'cancelled' && run.started_at === undefined))
}

/** The tokens of a run by the model that counted them. */
export function usagesOf({
  usage,
  usage_by_model: byModel,
  model = '',
}: Pick<EndedRun, 'usage' | 'usage_by_model' | 'model'>): ModelUsage[] {
  return byModel ?? (usage === undefined ? [] : [{ ...usage, model }])
}

/** What a run has cost; null if it asked no model, or one without a price. */
export function knownCost(
  prices: ModelPrices,
  run: Pick<EndedRun, 'usage' | 'usage_by_model' | 'model'>,
): number | null {
  const usages = usagesOf(run)
  const isKnown = usages.length > 0 && usages.every(({ model }) => priceOf(prices, model) !== undefined)
  return isKnown ? costOfUsages(prices, usages).money : null
}

export function costOfUsages(prices: ModelPrices, usages: ModelUsage[]): { tokens: number; money: number } {
  return {
    tokens: usages.reduce((total, usage) => total + usage.total_tokens, 0),
    money: usages.reduce((total, usage) => total + costOf(prices, usage.model, usage), 0),
  }
}
