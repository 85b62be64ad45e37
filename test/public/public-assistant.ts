import { randomBytes } from 'node:crypto'
import type { ApiClient } from '../support/api-client.ts'
import type { RunningService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'

export interface PublicAssistantOptions {
  mode?: 'authenticated' | 'public_token' | 'public_no_auth'
  name?: string
  config?: Record<string, unknown>
}

/** A new user's assistant with a public token of its own. */
export async function newPublicAssistant(
  service: RunningService,
  { mode = 'public_token', name = 'Public helper', config = {} }: PublicAssistantOptions = {},
): Promise<{ id: string; token: string; owner: ApiClient }> {
  const owner = await insertUser(service)
  const token = `pub-${randomBytes(12).toString('hex')}`
  const { assistant_id: id } = await owner.post('/assistants/', {
    name,
    config: {
      'type==agent/access_mode': mode,
      'type==agent/public_token': token,
      'type==agent/system_message': 'The owner says: be brief.',
      ...config,
    },
  })
  return { id, token, owner }
}
