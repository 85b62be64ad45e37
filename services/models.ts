import { type ModelPrices, priceOf } from '../domain/model-prices.ts'
import type { ProviderSettings } from '../domain/provided-models.ts'

interface ModelListDeps {
  providers: ProviderSettings
  defaultModel: string
  modelPrices: ModelPrices
  contextWindowOf(model: string): number
}

/** A model that assistants can choose. */
export interface ListedModel {
  id: string
  is_default: boolean
  context_tokens: number
  /** Names of the providers, in the order in which they are asked. Empty for the server of `OPENAI_BASE_URL`. */
  providers: string[]
  /** For a million tokens, if the settings name them. */
  prices?: { currency: string; input: number; output: number }
  /** Models that answer in its place while it fails. */
  fallbacks: string[]
}

/** The models of the settings, the default one first. Keys and addresses are not shown. */
export function createModelList({ providers, defaultModel, modelPrices, contextWindowOf }: ModelListDeps) {
  return function listModels(): ListedModel[] {
    const ids = [...new Set([defaultModel, ...providers.models.map(({ id }) => id)])]
    return ids.map((id) => {
      const own = providers.models.filter((one) => one.id === id)
      const price = priceOf(modelPrices, id)
      return {
        id,
        is_default: id === defaultModel,
        context_tokens: contextWindowOf(id),
        providers: own.map(({ provider }) => provider),
        ...(price === undefined ? {} : { prices: { currency: modelPrices.currency, ...price } }),
        fallbacks: [...(providers.fallbacks.get(id) ?? [])],
      }
    })
  }
}
