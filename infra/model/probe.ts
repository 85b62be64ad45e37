import { LRUCache } from 'lru-cache'
import type { ProviderKind } from '../../domain/model-providers.ts'
import { isSigned, keyHeaders, modelListUrl } from './provider-requests.ts'

interface ProbedModel {
  kind?: ProviderKind | undefined
  apiKey?: string | undefined
  baseUrl?: string | undefined
  model: string
}

/** How long a good answer of the model server is cached, so that health checks do not put load on it. */
const believedMs = 15_000

/**
 * Asks the model server for its list of models (`GET /models`), at most every fifteen seconds. Returns the name of
 * the model; rejects if the server does not answer, refuses our key or fails. Returns undefined while no model is
 * configured. `probed` says which server it is now.
 */
export function createModelProbe(probed: () => ProbedModel) {
  async function ask(_key: string, _old: unknown, { context }: { context: ProbedModel }): Promise<string> {
    const { kind, apiKey = '', model } = context
    const response = await fetch(modelListUrl(context), {
      headers: keyHeaders({ kind, apiKey }),
      // On the way to another server only `Authorization` would be left out.
      redirect: 'manual',
      signal: AbortSignal.timeout(1800),
    })
    await response.body?.cancel()
    // A server without this endpoint is available all the same.
    if (response.ok || response.status === 404 || response.status === 405) return model
    if (response.status === 403 && isSigned({ kind, apiKey })) return model
    throw new Error(`the model's server answered ${response.status}`)
  }

  const answers = new LRUCache<string, string, ProbedModel>({ max: 1, ttl: believedMs, fetchMethod: ask })
  return () => {
    const context = probed()
    const { kind = '', apiKey, baseUrl = '', model } = context
    return apiKey === undefined
      ? undefined
      : answers.forceFetch(JSON.stringify([kind, baseUrl, apiKey, model]), { context })
  }
}
