import { parseForeignJson } from '../../domain/foreign-json.ts'
import { isJsonObject } from '../../domain/json.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import { nativeKindOf } from '../../domain/model-providers.ts'
import { type ServedModel, readServedModels } from '../../domain/served-models.ts'
import type { ModelServers, ServerAccount } from '../../services/models/model-servers.ts'
import { guardFetch } from './guarded-fetch.ts'
import { addressOf, hasUsualEmbeddings, isSigned, keyHeaders, modelListUrl } from './provider-requests.ts'

interface ServerRequest extends ServerAccount {
  fetch: typeof fetch
  signal: AbortSignal
  url: string
  body?: unknown
}

/** What the list of a server's models, or one vector, may hold. */
const answerLimits = { bytes: 4 * 1024 * 1024, containers: 20_000, members: 100_000 }

export function createModelServers(ownFetch: typeof fetch): ModelServers {
  return {
    list: (account, signal) => listServedModels({ ...account, signal, fetch: ownFetch }),
    embeddingLength: (account, model, signal) => embeddingLength({ ...account, signal, fetch: ownFetch }, model),
  }
}

/**
 * The models that a server lists (`GET /models`). An address without `/v1` is tried with it, too, and the one that
 * answered is returned. Throws `ModelFailure`, which quotes nothing of the answer.
 */
async function listServedModels(
  server: Omit<ServerRequest, 'url' | 'body'>,
): Promise<{ baseUrl: string; models: ServedModel[] }> {
  const given = addressOf(server)
  try {
    return { baseUrl: given, models: await modelsAt({ ...server, baseUrl: given }) }
  } catch (error) {
    if (nativeKindOf(server.kind) !== undefined || new URL(given).pathname !== '/') throw error
    const baseUrl = `${given}/v1`
    return { baseUrl, models: await modelsAt({ ...server, baseUrl }) }
  }
}

async function modelsAt(server: Omit<ServerRequest, 'url' | 'body'>): Promise<ServedModel[]> {
  if (isSigned(server)) throw failed('lists its models only for an API key, not for an access key: name them')
  const models = readServedModels(await fetchFrom({ ...server, url: modelListUrl(server) }))
  if (models === undefined) throw failed('answered something else than a list of models')
  return models
}

/** The length of the vectors that a model makes of texts. Throws `ModelFailure`. */
export async function embeddingLength(server: Omit<ServerRequest, 'url' | 'body'>, model: string): Promise<number> {
  if (!hasUsualEmbeddings(server.kind)) throw failed('has no embeddings that can be asked here')
  const url = `${addressOf(server)}/embeddings`
  const answer = await fetchFrom({ ...server, url, body: { model, input: ['a short text'] } })
  const data: unknown = isJsonObject(answer) ? answer['data'] : undefined
  const first: unknown = Array.isArray(data) ? data[0] : undefined
  const vector: unknown = isJsonObject(first) ? first['embedding'] : undefined
  if (!Array.isArray(vector) || vector.length === 0) throw failed('answered something else than a vector')
  return vector.length
}

async function fetchFrom({ kind, apiKey, fetch, signal, url, body }: ServerRequest): Promise<unknown> {
  const whole = { containers: answerLimits.containers, members: answerLimits.members }
  const guard = guardFetch(fetch, { silenceMs: 60_000, maxBytes: answerLimits.bytes, whole })
  try {
    const response = await guard.fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...keyHeaders({ kind, apiKey }), 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal,
    })
    if (!response.ok) {
      await response.body?.cancel()
      throw failed(refusalOf(response.status), response.status)
    }
    const text = await response.text()
    return parseForeignJson(text, answerLimits)
  } catch (error) {
    if (guard.failure !== undefined) throw guard.failure
    if (error instanceof ModelFailure) throw error
    if (error instanceof SyntaxError) throw failed('answered something else than JSON')
    if (signal.aborted) throw failed('did not answer in time', 504)
    throw failed('could not be reached. See whether it runs, and whether the address is right')
  } finally {
    guard.close()
  }
}

function refusalOf(status: number): string {
  if (status === 401 || status === 403) return `refused the key (${status})`
  return status === 404 ? 'has nothing at this address (404)' : `answered ${status}`
}

function failed(what: string, status = 502): ModelFailure {
  return new ModelFailure(`The server ${what}.`, {
    statusCode: status,
    type: status === 401 || status === 403 ? 'model_credentials_refused' : 'model_error',
    retryable: false,
  })
}
