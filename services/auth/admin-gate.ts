import { createHash, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../domain/errors.ts'

export type AdminGate = ReturnType<typeof createAdminGate>

/** Lets pass who knows the admin token. Without a configured token nobody does. The time taken does not depend on the guess. */
export function createAdminGate(adminToken: string | undefined) {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const expected = adminToken === undefined ? undefined : digest(adminToken)
  return {
    check(given: string | undefined): void {
      const matches = timingSafeEqual(digest(given ?? ''), expected ?? digest('never'))
      if (expected === undefined || given === undefined || !matches) {
        throw new AppError('unauthenticated', 'The admin token is missing or wrong.')
      }
    },
  }
}
