import { createHash, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../domain/errors.ts'

export type AdminGate = ReturnType<typeof createAdminGate>

/**
 * Allows requests with a token of the settings, that of operators or of provisioning: one of the tokens that a request
 * carries must be right. Without a configured token all are refused. Compares in constant time.
 */
export function createAdminGate(adminToken: string | undefined, name = 'admin token') {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const expected = adminToken === undefined ? undefined : digest(adminToken)
  return {
    isConfigured: expected !== undefined,
    check(...given: (string | undefined)[]): void {
      const matches = given.filter((token) => timingSafeEqual(digest(token ?? ''), expected ?? digest('never')))
      if (expected === undefined || !matches.some((token) => token !== undefined)) {
        throw new AppError('unauthenticated', `The ${name} is missing or wrong.`)
      }
    },
  }
}
