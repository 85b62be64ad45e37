import { randomBytes } from 'node:crypto'
import { decodeJwt } from 'jose'
import { newId } from '../../domain/ids.ts'
import { apiClient } from './api-client.ts'
import { codeTo } from './mailbox.ts'
import type { RunningService } from './service.ts'

export const goodPassword = 'correct horse battery'

/** An address that no other test uses. */
export function newEmail(): string {
  return `user-${randomBytes(6).toString('hex')}@example.com`
}

/**
 * A user as people become one: signs up, verifies the address with the code of the mail, and logs in;
 * a worker must run. Gives the ids and the API as this user. Throws when a step is refused.
 */
export async function signUpUser(base: { url: string }, email = newEmail(), password = goodPassword) {
  const anybody = apiClient(base.url)
  const signup = await anybody.post('/auth/signup', { email, password })
  await anybody.post('/auth/verify-email', { email, code: await codeTo(email) })
  const login = await anybody.post('/auth/login', { email, password })
  const token = String(login.jwt_token)
  return {
    ...apiClient(base.url, token),
    token,
    userId: String(signup.user_id),
    projectId: String(decodeJwt(token)['project_id']),
    threadId: String(login.main_thread_id),
    email,
    password,
  }
}

/**
 * A user who is written to the database, with a project `main` and a token pinned to it: quick, with
 * no mail, no password, no assistant and no thread. Gives the ids and the API as this user.
 */
export async function insertUser(service: RunningService, { threadMax = 100 } = {}) {
  const userId = newId()
  const projectId = newId()
  const now = new Date()
  const email = `${userId}@example.com`
  const { users, projects } = service.collections
  await users.create({
    _id: userId,
    email,
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
  return { ...apiClient(service.url, token), token, userId, projectId, email }
}

export type TestUser = Awaited<ReturnType<typeof insertUser>>
