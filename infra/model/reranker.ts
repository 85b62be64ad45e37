import { isJsonObject } from '../../domain/is-json-object.ts'
import { parseForeignJson } from '../../domain/foreign-json.ts'
import type { Reranker } from '../../services/knowledge/reranker.ts'
import { limitBody } from '../outbound/limit-body.ts'

export interface RerankerOptions {
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
 * Cohere, Jina, vLLM, llama.cpp,
 * Infinity.
 */
export function createReranker({ baseUrl, apiKey, model, fetch, onError }: RerankerOptions): Reranker {
  return {
    rerank: (query, texts, signal) =>
      ask(query, texts, signal).catch((error: unknown) => {
        signal?.throwIfAborted()
        onError(error)
        return undefined
      }),
  }

  async function ask(query: string, texts: string[], signal: AbortSignal | undefined): Promise<number[]> {
    const limit = AbortSignal.timeout(limitMs)
    const documents = texts.map((text) => text.slice(0, maxTextCharacters).toWellFormed())
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}/rerank`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({ ...(model === undefined ? {} : { model }), query, documents }),
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    })
    if (!response.ok) {
      await response.body?.cancel()
      throw new Error(`the server for reranking answered ${response.status}`)
    }
    const text = await limitBody(response, maxAnswerBytes).text()
    return scoresOf(parseForeignJson(text, { bytes: maxAnswerBytes }), texts.length)
  }
}

function scoresOf(answer: unknown, texts: number): number[] {
  const results: unknown = isJsonObject(answer) ? answer['results'] : undefined
  const scores = new Map<number, number>()
  for (const result of Array.isArray(results) ? results.slice(0, texts) : []) {
    if (!isJsonObject(result)) continue
    const { index, relevance_score: score } = result
    if (typeof index === 'number' && typeof score === 'number') scores.set(index, score)
  }
  const all = Array.from({ length: texts }, (_, index) => scores.get(index))
  const given = all.filter((score) => score !== undefined)
  if (given.length < texts) throw new Error('the server for reranking did not judge every text')
  // Some answer with the logarithm of the odds.
  return given.every((score) => score >= 0 && score <= 1) ? given : given.map((score) => 1 / (1 + Math.exp(-score)))
}
