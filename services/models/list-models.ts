import { type ModelPrice, isListed, priceOf } from '../../domain/model-prices.ts'
import type { ModelsNow } from './live-models.ts'

interface ModelListDeps {
  models: ModelsNow
  contextWindowOf(model: string): number
}

/** A model that assistants can choose. */
interface ListedModel {
  id: string
  is_default: boolean
  context_tokens: number
  /** Names of the providers, in the order in which they are asked. Empty for the server of `OPENAI_BASE_URL`. */
  providers: string[]
  /** For a million tokens, if they are known. */
  prices?: ModelPrice & { currency: string; listed?: boolean }
  /** Models that answer in its place while it fails. */
  fallbacks: string[]
}

export interface ListedModels {
  models: ListedModel[]
  /** Only the demo model answers. */
  is_demo: boolean
}

/** The models that can be used now, the default one first. Keys and addresses are not shown. */
export function createModelList({ models, contextWindowOf }: ModelListDeps) {
  return function listModels(): ListedModels {
    const { providers, defaultModel, prices, isDemo } = models.current()
    const ids = [...new Set([defaultModel, ...providers.models.map(({ id }) => id)])]
    const listed = ids.map((id) => {
      const own = providers.models.filter((one) => one.id === id)
      const price = priceOf(prices, id)
      return {
        id,
        is_default: id === defaultModel,
        context_tokens: contextWindowOf(id),
        providers: own.map(({ provider }) => provider),
        ...(price === undefined
          ? {}
          : { prices: { currency: prices.currency, ...price, ...(isListed(prices, id) ? { listed: true } : {}) } }),
        fallbacks: [...(providers.fallbacks.get(id) ?? [])],
      }
    })
    return { models: listed, is_demo: isDemo }
  }
}
