import { LRUCache } from 'lru-cache'
import { defaultBaseUrl } from './open-client.ts'

export interface ProbedModel {
  apiKey?: string | undefined
  baseUrl?: string | undefined
  model: string
}

/** How long a good answer of the model server is cached, so that health checks do not put load on it. */
const believedMs = 15_000

/**
 * Asks the model server for its list of models (`GET /models`), at most every fifteen seconds. Returns the name of
 * the model; rejects if the server does not answer, refuses our key or fails. Undefined if no model is
 * configured.
 */
export function createModelProbe({ apiKey, baseUrl, model }: ProbedModel) {
  if (apiKey === undefined) return undefined
  const url = `${baseUrl ?? defaultBaseUrl}/models`

  async function ask(): Promise<string> {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(1800),
    })
    await response.body?.cancel()
    // A server without this endpoint is available all the same.
    if (response.ok || response.status === 404 || response.status === 405) return model
    throw new Error(`the model's server answered ${response.status}`)
  }

  const answers = new LRUCache<string, string>({ max: 1, ttl: believedMs, fetchMethod: ask })
  return () => answers.forceFetch(model)
}
