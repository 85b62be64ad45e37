import type { ProviderKind } from '../../domain/model-providers.ts'
import type { ServedModel } from '../../domain/served-models.ts'

export interface ServerAccount {
  /** Default: `openai-compatible`. */
  kind?: ProviderKind | undefined
  apiKey: string
  baseUrl: string | undefined
}

/** Questions to a model server beside those of runs. `infra/model` asks them. All throw `ModelFailure`. */
export interface ModelServers {
  /** The models that it lists, and the address that answered. */
  list(account: ServerAccount, signal: AbortSignal): Promise<{ baseUrl: string; models: ServedModel[] }>
  /** The length of the vectors that a model makes. */
  embeddingLength(account: ServerAccount, model: string, signal: AbortSignal): Promise<number>
}
