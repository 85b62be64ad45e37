import { isJsonObject } from './is-json-object.ts'
import type { Work } from './records/project.ts'
import type { Usage } from './records/run.ts'

export interface ModelPrice {
  input: number
  output: number
  /** Of tokens that the provider read from its cache; absent: that of `input`. */
  cached_input?: number
}

/** What a minute of the service's own work costs, in units of the currency. Absent: nothing. */
export interface MinutePrices {
  /** Processor time in which pictures are read. */
  recognition?: number
  /** In which code of models is executed. */
  code?: number
}

/** What models cost, by name; `*` stands for all others. For a million tokens, in units of the currency. */
export interface ModelPrices {
  currency: string
  models: ReadonlyMap<string, ModelPrice>
  minutes?: MinutePrices
}

export const noPrices: ModelPrices = { currency: 'usd', models: new Map() }

/**
 * Undefined for a text that is not `{"currency": "usd", "models": {"name": {"input": 0.15, "output": 0.6}}}`, with
 * `"minutes": {"recognition": 0.02, "code": 0.01}` or without.
 */
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
    const minutes = minutesIn(value['minutes'])
    if (known.length < models.length || minutes === undefined) return undefined
    return {
      currency: value['currency'].toLowerCase(),
      models: new Map(known),
      ...(value['minutes'] === undefined ? {} : { minutes }),
    }
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

/**
 * What was done beside the answers of models. Tokens of a model without a price of its own cost nothing: that of all others
 * is one of models that answer.
 */
export function costOfWork(
  { models, minutes = {} }: ModelPrices,
  model: string | undefined,
  work: Partial<Work>,
): number {
  const { embedding_tokens: tokens = 0, recognition_seconds: recognition = 0, code_seconds: code = 0 } = work
  const ofMinutes = recognition * (minutes.recognition ?? 0) + code * (minutes.code ?? 0)
  return (tokens * (models.get(model ?? '')?.input ?? 0)) / 1_000_000 + ofMinutes / 60
}

function minutesIn(given: unknown): MinutePrices | undefined {
  if (given === undefined) return {}
  if (!isJsonObject(given)) return undefined
  const { recognition, code } = given
  if ([recognition, code].some((price) => price !== undefined && !isPrice(price))) return undefined
  return {
    ...(isPrice(recognition) ? { recognition } : {}),
    ...(isPrice(code) ? { code } : {}),
  }
}

function isPrice(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value)
}
