import type { PublicFamily } from '../../../services/public/index.ts'
import type { OpenStreams } from '../../sse/open-streams.ts'

/** The two prefixes of the compat family: the long one, and its alias. */
export const families = { compat: '/public/compat/v1', public: '/public/v1' } as const
export type Family = keyof typeof families

export interface CompatDeps {
  publicFamily: PublicFamily
  openStreams: OpenStreams
  family: Family
}

/** For every route of the family. Its origins are those of the caller's assistant, not those of the service. */
export const compatConfig = { auth: 'public', cors: false, limits: ['public_client'] } as const

/** For routes that start a run. */
export const publicRunConfig = {
  ...compatConfig,
  idempotent: true,
  staysOpen: true,
  limits: ['public_client', 'public_runs_client', 'public_runs_token', 'public_runs_assistant'],
} as const

export function operation(family: Family, name: string, summary: string) {
  return { operationId: `${family}.${name}`, summary, tags: [family === 'compat' ? 'compat' : 'compat (alias)'] }
}
