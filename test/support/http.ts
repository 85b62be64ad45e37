import { newId } from '../../domain/ids.ts'
import type { TestService } from './service.ts'

export interface Answer {
  status: number
  headers: Headers
  /** The text as it came, for exact comparisons. */
  text: string
  /** The parsed text; undefined when it is no JSON. */
  body: ReturnType<typeof JSON.parse>
}

/** A caller of a service with one bearer token (or none). Bodies that are text go out as they are. */
export function caller(url: string, token?: string) {
  return async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    let parsed: unknown
    try {
      parsed = JSON.parse(text)
    } catch {
      parsed = undefined
    }
    return { status: response.status, headers: response.headers, text, body: parsed }
  }
}

export type Caller = ReturnType<typeof caller>

/** A user made straight in the database, with a project `main` and a token pinned to it. */
export async function newUser(
  service: TestService,
  { threadMax = 100, email }: { threadMax?: number; email?: string } = {},
) {
  const userId = newId()
  const projectId = newId()
  const now = new Date()
  const { users, projects } = service.collections
  await users.create({
    _id: userId,
    email: email ?? `${userId}@example.com`,
    provider: 'email',
    verified: true,
    thread_counter: 0,
    thread_max: threadMax,
    created_at: now,
    last_active_at: now,
  })
  await projects.create({
    _id: projectId,
    user_id: userId,
    name: 'main',
    description: '',
    created_at: now,
    updated_at: now,
  })
  const token = await service.api.services.tokens.sign({ user_id: userId, project_id: projectId })
  return { userId, projectId, token, email: email ?? `${userId}@example.com`, call: caller(service.url, token) }
}

export type TestUser = Awaited<ReturnType<typeof newUser>>
