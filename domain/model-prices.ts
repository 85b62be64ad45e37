import { isJsonObject } from './json.ts'
import type { Work } from './records/project.ts'
import type { Usage } from './records/run.ts'

export interface ModelPrice {
  input: number
  output: number
  /** Of tokens that the provider read from its cache; absent: that of `input`. */
  cached_input?: number
  /** Of tokens that the provider wrote to its cache; absent: that of `input`. */
  cache_write?: number
}

/** What a minute of the service's own work costs, in units of the currency. Absent: nothing. */
export interface MinutePrices {
  /** Processor time in which pictures are read. */
  recognition?: number
  /** In which code of models is executed. */
  code?: number
  /** Of speech that is written down. */
  transcription?: number
  /** In which texts are read aloud: a thousand characters each. */
  speech?: number
}

/** What models cost, by name; `*` stands for all others. For a million tokens, in units of the currency. */
export interface ModelPrices {
  currency: string
  models: ReadonlyMap<string, ModelPrice>
  minutes?: MinutePrices
  /** What the list of known models says, for those that have no price here. */
  listed?: (model: string) => ModelPrice | undefined
}

export const noPrices: ModelPrices = { currency: 'usd', models: new Map() }

/**
 * Undefined for a text that is not `{"currency": "usd", "models": {"name": {"input": 0.15, "output": 0.6}}}`, with
 * `"minutes": {"recognition": 0.02, "code": 0.01, "transcription": 0.006, "speech": 0.015}` or without.
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
      const written: unknown = isJsonObject(price) ? price['cache_write'] : undefined
      if (!isPrice(input) || !isPrice(output) || !isOptional(cached) || !isOptional(written)) return undefined
      return [
        name,
        {
          input,
          output,
          ...(cached === undefined ? {} : { cached_input: cached }),
          ...(written === undefined ? {} : { cache_write: written }),
        },
      ] as const
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
export function priceOf({ models, listed }: ModelPrices, model: string): ModelPrice | undefined {
  return models.get(model) ?? models.get('*') ?? listed?.(model)
}

/** Whether a model has only the price of the list of known models. */
export function isListed({ models }: ModelPrices, model: string): boolean {
  return !models.has(model) && !models.has('*')
}

/** Nothing for a model without a price. */
export function costOf(
  prices: ModelPrices,
  model: string | undefined,
  usage: Pick<Usage, 'prompt_tokens' | 'completion_tokens' | 'cached_tokens' | 'cache_write_tokens'>,
): number {
  const price = priceOf(prices, model ?? '')
  if (price === undefined) return 0
  const { prompt_tokens: prompt, completion_tokens: completion } = usage
  const { cached_tokens: cached = 0, cache_write_tokens: written = 0 } = usage
  const { input, output, cached_input: cachedInput = input, cache_write: writing = input } = price
  const plain = Math.max(0, prompt - cached - written)
  return (plain * input + cached * cachedInput + written * writing + completion * output) / 1_000_000
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
  const { transcription_seconds: spoken = 0, speech_characters: characters = 0 } = work
  const ofSeconds =
    recognition * (minutes.recognition ?? 0) + code * (minutes.code ?? 0) + spoken * (minutes.transcription ?? 0)
  const ofTokens = (tokens * (models.get(model ?? '')?.input ?? 0)) / 1_000_000
  return ofTokens + ofSeconds / 60 + (characters / 1000) * (minutes.speech ?? 0)
}

function minutesIn(given: unknown): MinutePrices | undefined {
  if (given === undefined) return {}
  if (!isJsonObject(given)) return undefined
  const { recognition, code, transcription, speech } = given
  if ([recognition, code, transcription, speech].some((price) => price !== undefined && !isPrice(price)))
    return undefined
  return {
    ...(isPrice(recognition) ? { recognition } : {}),
    ...(isPrice(code) ? { code } : {}),
    ...(isPrice(transcription) ? { transcription } : {}),
    ...(isPrice(speech) ? { speech } : {}),
  }
}

function isOptional(value: unknown): value is number | undefined {
  return value === undefined || isPrice(value)
}

function isPrice(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value)
}
