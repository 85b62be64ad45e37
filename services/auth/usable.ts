import { AppError } from '../../domain/errors.ts'
import type { Usable } from '../stores/users.ts'

/** Throws `forbidden` for an account that is being deleted, is suspended, or that provisioning has deactivated. */
export function requireUsable({ deleting, suspended_at, deactivated_at }: Usable): void {
  if (deleting) throw new AppError('forbidden', 'This account is being deleted.')
  if (suspended_at) throw new AppError('forbidden', 'This account is suspended. Ask the operator of this service.')
  if (deactivated_at)
    throw new AppError('forbidden', 'This account is deactivated. Ask the people who manage your logins.')
}
