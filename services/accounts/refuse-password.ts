import { AppError } from '../../domain/errors.ts'
import type { LoginProviders } from '../../domain/login-providers.ts'

/** Throws `forbidden` for an address of a domain without passwords, whether it has an account or not. */
export function refusePassword(providers: Pick<LoginProviders, 'insteadOfPassword'>, email: string): void {
  const provider = providers.insteadOfPassword(email)
  if (provider !== undefined)
    throw new AppError('forbidden', `Addresses of this domain have no password here: log in with ${provider.name}.`)
}
