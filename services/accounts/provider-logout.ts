import { createHash } from 'node:crypto'
import { AppError } from '../../domain/errors.ts'
import type { LoginProvider, LoginProviders } from '../../domain/login-providers.ts'
import type { Collections } from '../collections.ts'
import { boundSubject } from './external-users.ts'
import { logoutStore } from './store.ts'

interface LogoutClaims {
  /** As the provider spells itself. */
  issuer: string
  /** Absent if only a session is named. */
  subject?: string
  tokenId: string
}

/**
 * Checks a logout token (OpenID Connect Back-Channel Logout 1.0, section 2.6) against the keys of its issuer. Throws
 * `bad_request` for an invalid one, `internal` if the keys could not be fetched.
 */
export type VerifyLogoutToken = (token: string, client: { issuer: string; clientId: string }) => Promise<LogoutClaims>

/** Longer than a logout token is accepted. */
const rememberedMs = 15 * 60 * 1000

interface ProviderLogoutDeps {
  collections: Pick<Collections, 'users' | 'usedTokens'>
  providers: LoginProviders
  verify: VerifyLogoutToken
}

/**
 * Ends the sessions of somebody who has logged out at the identity provider: his tokens that are older are refused. Logins of
 * programs stay, because they are made to work without a browser.
 */
export function createProviderLogout({ collections, providers, verify }: ProviderLogoutDeps) {
  const store = logoutStore(collections)

  function required(id: string): LoginProvider & { issuer: string; clientId: string } {
    const found = providers.all.find((provider) => provider.id === id)
    const { issuer, clientId } = found ?? {}
    if (found === undefined || issuer === undefined || clientId === undefined)
      throw new AppError('not_found', 'There is no such identity provider.')
    return { ...found, issuer, clientId }
  }

  return async (providerId: string, token: string): Promise<void> => {
    const { issuer, subject, tokenId } = await verify(token, required(providerId))
    if (subject === undefined)
      throw new AppError('bad_request', 'The logout token names a session only; it must name the user (claim sub).')
    const _id = createHash('sha256').update(`${issuer}|${tokenId}`).digest('hex')
    if (!(await store.use(_id, new Date(Date.now() + rememberedMs))))
      throw new AppError('bad_request', 'This logout token was used before.')
    await store.endSessions(boundSubject({ issuer, subject }))
  }
}
