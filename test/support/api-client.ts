import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { TestService } from './service.ts'

export type ApiClient = ReturnType<typeof apiClient>

/** Calls the API as one user; `expected` is the status that the answer must have. */
export function apiClient(url: string, token: string | undefined) {
  const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }

  async function fetchRaw(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return fetch(`${url}${path}`, {
      method,
      headers: { ...authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  async function call(method: string, path: string, body?: unknown, expected = 200): Promise<any> {
    const response = await fetchRaw(method, path, body)
    const text = await response.text()
    expect(`${method} ${path} ${response.status} ${response.status === expected ? '' : text}`.trim()).toBe(
      `${method} ${path} ${expected}`,
    )
    return text === '' ? undefined : JSON.parse(text)
  }

  return {
    token,
    fetch: fetchRaw,
    get: (path: string, expected?: number) => call('GET', path, undefined, expected),
    post: (path: string, body?: unknown, expected?: number) => call('POST', path, body, expected),
    put: (path: string, body?: unknown, expected?: number) => call('PUT', path, body, expected),
    patch: (path: string, body?: unknown, expected?: number) => call('PATCH', path, body, expected),
    delete: (path: string, body?: unknown, expected?: number) => call('DELETE', path, body, expected),
  }
}

/** A user of its own with a project, made as the service makes users from tokens: no sign-up needed. */
export async function newUser(service: Pick<TestService, 'url' | 'api'>) {
  const userId = randomUUID()
  const projectId = randomUUID()
  const token = await service.api.services.tokens.sign({ user_id: userId, project_id: projectId })
  return { userId, projectId, client: apiClient(service.url, token) }
}
