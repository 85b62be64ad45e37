import { isJsonObject } from './is-json-object.ts'
import type { Usage } from './records/run.ts'

export interface ModelPrice {
  input: number
  output: number
  /** Of tokens that the provider read from its cache; absent: that of `input`. */
  cached_input?: number
}

/** What models cost, by name; `*` stands for all others. For a million tokens, in units of the currency. */
export interface ModelPrices {
  currency: string
  models: ReadonlyMap<string, ModelPrice>
}

export const noPrices: ModelPrices = { currency: 'usd', models: new Map() }

/** Undefined for a text that is not `{"currency": "usd", "models": {"name": {"input": 0.15, "output": 0.6}}}`. */
export function parseModelPrices(text: string): ModelPrices | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (!isJsonObject(value) || typeof value['currency'] !== 'string' || !isJsonObject(value['models']))
      return undefined
    const models = Object.entries(value['models']).map(([name, price]) => {
      const input: unknown = isJsonObject(price) ? price['input'] : undefined
      const output: unknown = isJsonObject(price) ? price['output'] : undefined
      const cached: unknown = isJsonObject(price) ? price['cached_input'] : undefined
      if (!isPrice(input) || !isPrice(output)) return undefined
      if (cached === undefined) return [name, { input, output }] as const
      return isPrice(cached) ? ([name, { input, output, cached_input: cached }] as const) : undefined
    })
    const known = models.filter((entry) => entry !== undefined)
    return known.length === models.length
      ? { currency: value['currency'].toLowerCase(), models: new Map(known) }
      : undefined
  } catch {
    return undefined
  }
}

/** What a million tokens of the model cost; undefined without a price. */
export function priceOf({ models }: ModelPrices, model: string): ModelPrice | undefined {
  return models.get(model) ?? models.get('*')
}

/** Nothing for a model without a price. */
export function costOf(
  prices: ModelPrices,
  model: string | undefined,
  usage: Pick<Usage, 'prompt_tokens' | 'completion_tokens' | 'cached_tokens'>,
): number {
  const price = priceOf(prices, model ?? '')
  if (price === undefined) return 0
  const { prompt_tokens: prompt, completion_tokens: completion, cached_tokens: cached = 0 } = usage
  const { input, output, cached_input: cachedInput = input } = price
  return ((prompt - cached) * input + cached * cachedInput + completion * output) / 1_000_000
}

/** Nothing for a model without a price of its own: that of all others is one of models that answer. */
export function costOfEmbedding({ models }: ModelPrices, model: string | undefined, tokens: number): number {
  return (tokens * (models.get(model ?? '')?.input ?? 0)) / 1_000_000
}

function isPrice(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value)
}
