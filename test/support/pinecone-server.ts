import type { IncomingMessage, ServerResponse } from 'node:http'
import { readJson, sendJson, startHttpServer } from './http-server.ts'

interface Stored {
  id: string
  values: number[]
  metadata?: Record<string, unknown>
}

/**
 * A server that speaks the part of Pinecone's data API (2025-10) that we use, on data in memory:
 * upsert, query, list by prefix, delete, statistics, namespaces. `failing` answers every request
 * with that status.
 */
export async function startPineconeServer({ apiKey, dimension }: { apiKey: string; dimension: number }) {
  const namespaces = new Map<string, Map<string, Stored>>()
  const state: { failing: number | undefined; requests: string[] } = { failing: undefined, requests: [] }

  const server = await startHttpServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    state.requests.push(`${request.method} ${url.pathname}`)
    if (request.headers['api-key'] !== apiKey) return fail(response, 401, 'UNAUTHENTICATED')
    if (state.failing !== undefined) return fail(response, state.failing, 'UNAVAILABLE')
    await answer(request, response, url)
  })

  async function answer(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const name = url.searchParams.get('namespace') ?? ''
    switch (`${request.method} ${url.pathname}`) {
      case 'POST /vectors/upsert': {
        const { vectors, namespace } = await readJson<{ vectors: Stored[]; namespace: string }>(request)
        if (vectors.some(({ values }) => values.length !== dimension)) {
          return fail(response, 400, 'Vector dimension does not match the dimension of the index')
        }
        const space = namespaces.get(namespace) ?? new Map<string, Stored>()
        namespaces.set(namespace, space)
        for (const vector of vectors) space.set(vector.id, vector)
        return sendJson(response, 200, { upsertedCount: vectors.length })
      }
      case 'POST /query': {
        const { vector, topK, namespace } = await readJson<{ vector: number[]; topK: number; namespace: string }>(
          request,
        )
        const matches = [...(namespaces.get(namespace)?.values() ?? [])]
          .map(({ id, values, metadata }) => ({ id, score: cosine(values, vector), values: [], metadata }))
          .toSorted((a, b) => b.score - a.score)
          .slice(0, topK)
        return sendJson(response, 200, { matches, namespace, usage: { readUnits: 1 } })
      }
      case 'GET /vectors/list': {
        const prefix = url.searchParams.get('prefix') ?? ''
        const limit = Number(url.searchParams.get('limit') ?? 100)
        if (limit > 100) return fail(response, 400, 'limit is at most 100')
        const start = Number(url.searchParams.get('paginationToken') ?? 0)
        const ids = [...(namespaces.get(name)?.keys() ?? [])].filter((id) => id.startsWith(prefix)).toSorted()
        const vectors = ids.slice(start, start + limit).map((id) => ({ id }))
        const pagination = start + limit < ids.length ? { pagination: { next: String(start + limit) } } : {}
        return sendJson(response, 200, { vectors, namespace: name, usage: { readUnits: 1 }, ...pagination })
      }
      case 'POST /vectors/delete': {
        const { ids, namespace } = await readJson<{ ids?: string[]; namespace: string }>(request)
        const space = namespaces.get(namespace)
        if (!space) return fail(response, 404, 'Namespace not found')
        if ((ids?.length ?? 0) > 1000) return fail(response, 400, 'at most 1000 ids')
        for (const id of ids ?? []) space.delete(id)
        return sendJson(response, 200, {})
      }
      case 'POST /describe_index_stats': {
        const counts = [...namespaces].map(([namespace, space]) => [namespace, { vectorCount: space.size }])
        const total = [...namespaces.values()].reduce((sum, space) => sum + space.size, 0)
        return sendJson(response, 200, {
          namespaces: Object.fromEntries(counts),
          dimension,
          indexFullness: 0,
          totalVectorCount: total,
        })
      }
      case 'GET /namespaces':
        return sendJson(response, 200, { namespaces: [...namespaces.keys()].map((namespace) => ({ name: namespace })) })
    }
    if (request.method === 'DELETE' && url.pathname.startsWith('/namespaces/')) {
      const removed = namespaces.delete(decodeURIComponent(url.pathname.slice('/namespaces/'.length)))
      return removed ? sendJson(response, 200, {}) : fail(response, 404, 'Namespace not found')
    }
    fail(response, 404, `no such path: ${request.method} ${url.pathname}`)
  }

  return { url: server.url, state, close: server.close }
}

function fail(response: ServerResponse, status: number, message: string): void {
  sendJson(response, status, { code: status, message, details: [] })
}

function cosine(a: number[], b: number[]): number {
  const dot = a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
  return dot / (Math.hypot(...a) * Math.hypot(...b))
}
