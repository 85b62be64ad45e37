import { randomBytes } from 'node:crypto'
import { codeTo } from './mailbox.ts'

/** An address that no other test uses. */
export function newEmail(): string {
  return `user-${randomBytes(6).toString('hex')}@example.com`
}

export const goodPassword = 'correct horse battery'

export interface Answer {
  status: number
  headers: Headers
  body: any
}

/** One JSON request. */
export async function call(
  base: { url: string },
  method: string,
  path: string,
  { body, token, headers }: { body?: unknown; token?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const response = await fetch(`${base.url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

/** Signs up, verifies with the code of the mail, and logs in. */
export async function newUser(base: { url: string }, email = newEmail(), password = goodPassword) {
  const signup = await call(base, 'POST', '/auth/signup', { body: { email, password } })
  if (signup.status !== 200) throw new Error(`signup answered ${signup.status}`)
  await call(base, 'POST', '/auth/verify-email', { body: { email, code: await codeTo(email) } })
  const login = await call(base, 'POST', '/auth/login', { body: { email, password } })
  if (login.status !== 200) throw new Error(`login answered ${login.status}`)
  return {
    email,
    password,
    userId: String(signup.body.user_id),
    token: String(login.body.jwt_token),
    assistantId: String(login.body.main_agent_id),
    threadId: String(login.body.main_thread_id),
  }
}
