import { createClient } from '../../../client/src/index.ts'

/** The API with the token of an administrator. */
export type AdminApi = ReturnType<typeof createClient>

export function adminApi(token: string): AdminApi {
  return createClient({ baseUrl: '', token: () => token })
}
