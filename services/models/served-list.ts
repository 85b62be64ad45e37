import { LRUCache } from 'lru-cache'
import { ModelFailure } from '../../domain/model-failure.ts'
import type { ServedModel } from '../../domain/served-models.ts'
import type { ModelsNow } from './live-models.ts'
import type { ModelServers, ServerAccount } from './model-servers.ts'

interface ServedListDeps {
  models: ModelsNow
  servers: Pick<ModelServers, 'list'>
  onError(error: unknown): void
}

/** What a server lists changes rarely, and applications ask before each conversation. */
const knownMs = 60_000
/** A server that gave no list is not asked with each request. */
const unknownMs = 10_000
const listTimeoutMs = 5_000

interface ListAttempt {
  /** Undefined: the list could not be read. */
  models: ServedModel[] | undefined
}

/**
 * The models that the server of `OPENAI_BASE_URL` lists, which is asked at most once a minute. Empty if there is no such
 * server; undefined if its list cannot be read now.
 */
export function createServedList({ models, servers, onError }: ServedListDeps) {
  async function ask(_key: string, _old: unknown, { context }: { context: ServerAccount }): Promise<ListAttempt> {
    try {
      return { models: (await servers.list(context, AbortSignal.timeout(listTimeoutMs))).models }
    } catch (error) {
      if (!(error instanceof ModelFailure)) throw error
      onError(error)
      return { models: undefined }
    }
  }

  const cache = new LRUCache<string, ListAttempt, ServerAccount>({
    max: 4,
    ttl: knownMs,
    fetchMethod: async (key, old, options) => {
      const listed = await ask(key, old, options)
      if (listed.models === undefined) options.options.ttl = unknownMs
      return listed
    },
  })

  return async (): Promise<ServedModel[] | undefined> => {
    const { account } = models.current()
    if (account === undefined) return []
    const { models: listed } = await cache.forceFetch(JSON.stringify([account.baseUrl ?? '', account.apiKey]), {
      context: account,
    })
    return listed
  }
}

export type ServedList = ReturnType<typeof createServedList>
