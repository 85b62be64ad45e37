import { AppError } from '../../domain/errors.ts'
import type { UserRecord } from '../../domain/records/user.ts'

/** Throws `forbidden` for an account that is being deleted or is suspended. */
export function requireUsable({ deleting, suspended_at }: Pick<UserRecord, 'deleting' | 'suspended_at'>): void {
  if (deleting) throw new AppError('forbidden', 'This account is being deleted.')
  if (suspended_at) throw new AppError('forbidden', 'This account is suspended. Ask the operator of this service.')
}
