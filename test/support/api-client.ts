import { expect } from 'vitest'

export interface Answer {
  status: number
  headers: Headers
  /** The text as it came, for exact comparisons. */
  text: string
  /** The parsed text; undefined when it is no JSON. */
  body: any
}

export type ApiClient = ReturnType<typeof apiClient>

/**
 * The API at `url` as one caller sees it, with a bearer token or without one. A body goes out as
 * JSON; text goes out as it is, to say JSON letter by letter, and so does a form. Redirections are
 * answers like others.
 */
export function apiClient(url: string, token?: string) {
  /** The answer with its body still to be read, for streams. */
  function request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ) {
    const isForm = body instanceof FormData
    return fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      ...(signal === undefined ? {} : { signal }),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm || typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  }

  /** The whole answer, whatever its status. */
  async function call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> {
    const response = await request(method, path, body, headers)
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: parsed(text) }
  }

  /** The body of an answer that must have the status `expected`. */
  async function bodyOf(method: string, path: string, body: unknown, expected = 200): Promise<any> {
    const answer = await call(method, path, body)
    const said = answer.status === expected ? '' : answer.text
    expect(`${method} ${path} ${answer.status} ${said}`.trim()).toBe(`${method} ${path} ${expected}`)
    return answer.body
  }

  return {
    token,
    fetch: request,
    call,
    get: (path: string, expected?: number) => bodyOf('GET', path, undefined, expected),
    post: (path: string, body?: unknown, expected?: number) => bodyOf('POST', path, body, expected),
    put: (path: string, body?: unknown, expected?: number) => bodyOf('PUT', path, body, expected),
    patch: (path: string, body?: unknown, expected?: number) => bodyOf('PATCH', path, body, expected),
    delete: (path: string, body?: unknown, expected?: number) => bodyOf('DELETE', path, body, expected),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
