import type { PublicFamily } from '../../../services/public/index.ts'
import type { OpenStreams } from '../../sse/event-stream.ts'

export const compatPrefix = '/public/compat/v1'

/** The shorter prefix of the compat family: a path under it is the same path under the other one. */
export const withoutAlias = (url = '/'): string => url.replace(/^\/public\/v1\//, `${compatPrefix}/`)

export interface CompatDeps {
  publicFamily: PublicFamily
  openStreams: OpenStreams
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

export function operation(name: string, summary: string) {
  return { operationId: `compat.${name}`, summary, tags: ['compat'] }
}
