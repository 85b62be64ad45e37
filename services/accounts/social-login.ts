import type { Language } from '../../domain/languages.ts'
import type { Provider } from '../../domain/records/user.ts'
import type { ProvenIdentity, createExternalUsers } from './external-users.ts'
import type { EmailProblem } from '../../domain/verified-email.ts'
import type { Login } from './login.ts'

/** Values that the end of a login is checked against. The browser keeps them, sealed. */
export interface LoginAttempt {
  state: string
  nonce: string
  codeVerifier: string
}

/** An OpenID Connect provider; authorization code flow with PKCE. */
export interface IdentityProvider {
  /** Throws `internal` with the problem if the settings or the provider cannot be used. */
  begin(): Promise<{ redirectTo: string; attempt: LoginAttempt }>
  /**
   * Redeems the code. The identity contains an e-mail address only if the provider has verified it. Throws
   * `bad_request` for a callback that does not match the attempt, `internal` if the provider fails.
   */
  finish(
    query: string,
    attempt: LoginAttempt,
  ): Promise<Omit<ProvenIdentity, 'email'> & ({ email: string } | { problem: EmailProblem })>
}

export type SocialLoginEnd =
  | { kind: 'entered'; token: string; redirectTo: string }
  | { kind: 'other_provider'; provider: Provider }
  | { kind: 'other_subject' }
  | { kind: 'no_verified_email'; issuer: string; problem: EmailProblem }

interface SocialLoginDeps {
  provider: IdentityProvider
  findOrCreate: ReturnType<typeof createExternalUsers>
  login: Pick<Login, 'enter'>
  frontendUrl: string
}

/** Login through the identity provider. It ends at the front end with an ordinary service token. */
export function createSocialLogin({ provider, findOrCreate, login, frontendUrl }: SocialLoginDeps) {
  return {
    begin: () => provider.begin(),

    async finish(query: string, attempt: LoginAttempt, language?: Language): Promise<SocialLoginEnd> {
      const identity = await provider.finish(query, attempt)
      if ('problem' in identity)
        return { kind: 'no_verified_email', issuer: identity.issuer, problem: identity.problem }
      const found = await findOrCreate('social', identity, language)
      if (found.kind !== 'user') return found
      const { jwt_token, main_agent_id, main_thread_id } = await login.enter(found.user)
      const members = new URLSearchParams({ jwt_token, main_agent_id, main_thread_id })
      return { kind: 'entered', token: jwt_token, redirectTo: `${frontendUrl}/auth-callback?${members.toString()}` }
    },
  }
}
