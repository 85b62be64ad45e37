import { parseForeignJson } from '../../domain/foreign-json.ts'
import { isJsonObject } from '../../domain/json.ts'
import type { Reranker } from '../../services/knowledge/reranker.ts'
import { limitBody } from '../outbound/limit-body.ts'

interface RerankerOptions {
  baseUrl: string
  apiKey: string | undefined
  model: string | undefined
  fetch: typeof fetch
  onError: (error: unknown) => void
}

/** A search without it is better than one that waits. */
const limitMs = 5_000
const maxAnswerBytes = 4 * 1024 * 1024
/** Beyond this, models of this kind read nothing. */
const maxTextCharacters = 8000

/**
 * A server with `POST {base}/rerank {model, query, documents}`, which answers `{results: [{index, relevance_score}]}`:
 * Cohere, Jina, vLLM, llama.cpp, Infinity. One that refuses this form is asked in that of text-embeddings-inference,
 * `{query, texts}`, which answers `[{index, score}]`.
 */
export function createReranker({ baseUrl, apiKey, model, fetch, onError }: RerankerOptions): Reranker & {
  /** As `rerank`, but throws why the server gave no answer. */
  ask(query: string, texts: string[], signal?: AbortSignal): Promise<number[]>
} {
  /** What the server took last. */
  let isOfTexts = false

  return {
    ask,
    rerank: (query, texts, signal) =>
      ask(query, texts, signal).catch((error: unknown) => {
        signal?.throwIfAborted()
        onError(error)
        return undefined
      }),
  }

  async function ask(query: string, texts: string[], signal?: AbortSignal): Promise<number[]> {
    const limit = AbortSignal.timeout(limitMs)
    const documents = texts.map((text) => text.slice(0, maxTextCharacters).toWellFormed())
    const forms = isOfTexts ? [true, false] : [false, true]
    for (const [attempt, ofTexts] of forms.entries()) {
      const body = ofTexts ? { query, texts: documents, truncate: true } : { model, query, documents }
      const response = await post(body, signal ? AbortSignal.any([signal, limit]) : limit)
      const isOther = response.status === 400 || response.status === 422
      if (!response.ok) {
        await response.body?.cancel()
        if (isOther && attempt === 0) continue
        throw new Error(`the server for reranking answered ${response.status}`)
      }
      const text = await limitBody(response, maxAnswerBytes).text()
      const scores = scoresOf(parseForeignJson(text, { bytes: maxAnswerBytes }), texts.length)
      isOfTexts = ofTexts
      return scores
    }
    throw new Error('the server for reranking takes no known form')
  }

  function post(body: object, signal: AbortSignal): Promise<Response> {
    return fetch(`${baseUrl.replace(/\/+$/, '')}/rerank`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
      signal,
    })
  }
}

function scoresOf(answer: unknown, texts: number): number[] {
  const results: unknown = isJsonObject(answer) ? (answer['results'] ?? answer['data']) : answer
  const scores = new Map<number, number>()
  for (const result of Array.isArray(results) ? results.slice(0, texts) : []) {
    if (!isJsonObject(result)) continue
    const { index } = result
    const score = result['relevance_score'] ?? result['score']
    if (typeof index === 'number' && typeof score === 'number') scores.set(index, score)
  }
  const all = Array.from({ length: texts }, (_, index) => scores.get(index))
  const given = all.filter((score) => score !== undefined)
  if (given.length < texts) throw new Error('the server for reranking did not judge every text')
  // Some answer with the logarithm of the odds.
  return given.every((score) => score >= 0 && score <= 1) ? given : given.map((score) => 1 / (1 + Math.exp(-score)))
}
