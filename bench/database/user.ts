import type { BenchContext } from '../environment.ts'

/** A new user. `call` answers the parsed body, or throws with the status. */
export async function newUser(context: BenchContext) {
  const authorization = `Bearer ${await context.newToken()}`
  const headers = { authorization, 'content-type': 'application/json' }
  return {
    async call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
      const response = await fetch(`${context.url}${path}`, {
        method,
        headers: body === undefined ? { authorization } : headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(60_000),
      })
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
      return (await response.json()) as Record<string, unknown>
    },
  }
}
