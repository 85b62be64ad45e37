import { AppError } from '../../domain/errors.ts'
import { noKey } from '../../domain/model-catalog.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import type { ProviderKind } from '../../domain/model-providers.ts'
import type { ServedModel } from '../../domain/served-models.ts'
import type { ModelServers } from '../models/model-servers.ts'
import type { ModelSettings } from '../models/model-settings.ts'
import { checkedUrl } from '../models/operator-input.ts'
import type { createTryModel } from './try-model.ts'

interface ModelOperationDeps {
  settings: ModelSettings
  servers: ModelServers
  tryModel: ReturnType<typeof createTryModel>
}

type ModelServerChoice =
  | { serverId: string }
  | { kind?: ProviderKind | undefined; baseUrl: string; apiKey: string | undefined }

const pollMs = 15_000

/** What operators do on the model page. */
export function createModelOperation({ settings, servers, tryModel }: ModelOperationDeps) {
  return {
    settings,

    /** The models that a server lists. */
    async listServed(where: ModelServerChoice): Promise<{ baseUrl: string; models: ServedModel[] }> {
      const account =
        'serverId' in where
          ? await settings.accountOf(where.serverId)
          : { kind: where.kind, baseUrl: checkedUrl(where.baseUrl), apiKey: where.apiKey ?? noKey }
      try {
        return await servers.list(account, AbortSignal.timeout(pollMs))
      } catch (error) {
        if (error instanceof ModelFailure) throw new AppError('upstream_failed', error.message)
        throw error
      }
    },

    tryModel: async (serverId: string, model: string) => tryModel(await settings.accountOf(serverId), model),
  }
}
