import OpenAI, { APIError } from 'openai'
import type { RunningService, TestService } from '../support/service.ts'
import { type TestUser, insertUser } from '../support/users.ts'

/** The official client with the token of a project, and the project's owner. */
export async function v1Client(service: RunningService, user?: TestUser) {
  const owner = user ?? (await insertUser(service))
  const { jwt_token: apiKey } = await owner.get(`/projects/${owner.projectId}`)
  return { owner, client: clientWith(service, String(apiKey)) }
}

export function clientWith(service: Pick<TestService, 'url'>, apiKey: string): OpenAI {
  return new OpenAI({ baseURL: `${service.url}/v1`, apiKey, maxRetries: 0 })
}

/** What a refused request tells the client. */
export async function refusalOf(request: PromiseLike<unknown>): Promise<APIError> {
  try {
    await request
  } catch (error) {
    if (error instanceof APIError) return error
    throw error
  }
  throw new Error('the request was not refused')
}
