import type { Collections } from './collections.ts'
import { createAdminGate } from './auth/admin-gate.ts'
import { createSessions } from './auth/sessions.ts'
import { type TokenSettings, createTokens } from './auth/tokens.ts'

/** What services are given from outside: the database, and the ways to Temporal, Redis and the rest. */
export interface Ports {
  settings: TokenSettings & { adminToken?: string | undefined; threadMaxDefault: number }
  collections: Collections
}

export type Services = Awaited<ReturnType<typeof createServices>>

/** All use cases that the API offers, wired once. */
export async function createServices({ settings, collections }: Ports) {
  const tokens = await createTokens(settings)
  return {
    tokens,
    sessions: createSessions({ collections, tokens, threadMaxDefault: settings.threadMaxDefault }),
    adminGate: createAdminGate(settings.adminToken),
  }
}
