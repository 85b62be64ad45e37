import type { ClaimedNames } from '../../domain/claimed-groups.ts'
import { AppError } from '../../domain/errors.ts'
import type { Language } from '../../domain/languages.ts'
import { type LoginProvider, type LoginProviders, shortFormId } from '../../domain/login-providers.ts'
import type { Provider } from '../../domain/records/user.ts'
import type { EmailProblem } from '../../domain/verified-email.ts'
import type { NoteClaims } from '../groups/claimed-groups.ts'
import type { ProvenIdentity, createExternalUsers } from './external-users.ts'
import type { Login } from './login.ts'

/** Values that the end of a login is checked against. The browser keeps them, sealed. */
export interface LoginAttempt {
  state: string
  nonce: string
  codeVerifier: string
  /** The id of the provider that was asked. */
  provider: string
}

/** An OpenID Connect provider; authorization code flow with PKCE. */
export interface IdentityProvider {
  /** Throws `internal` with the problem if the settings or the provider cannot be used. */
  begin(): Promise<{ redirectTo: string; attempt: Omit<LoginAttempt, 'provider'> }>
  /**
   * Redeems the code. The identity contains an e-mail address only if the provider has verified it, and groups only if
   * they are known. Throws `bad_request` for a callback that does not match the attempt, `internal` if the provider fails.
   */
  finish(
    query: string,
    attempt: LoginAttempt,
  ): Promise<
    Omit<ProvenIdentity, 'email'> & { groups?: ClaimedNames } & ({ email: string } | { problem: EmailProblem })
  >
}

type SocialLoginEnd =
  | { kind: 'entered'; token: string; redirectTo: string }
  | { kind: 'other_provider'; provider: Provider }
  | { kind: 'other_subject' }
  /** Another provider speaks for the domain of the address, or this one does not. */
  | { kind: 'other_domain' }
  | { kind: 'no_verified_email'; issuer: string; problem: EmailProblem }

interface SocialLoginDeps {
  providers: LoginProviders
  connect(provider: LoginProvider): IdentityProvider
  findOrCreate: ReturnType<typeof createExternalUsers>
  noteClaims: NoteClaims
  login: Pick<Login, 'enter'>
  frontendUrl: string
}

/** Login through an identity provider. It ends at the front end with an ordinary service token. */
export function createSocialLogin({
  providers,
  connect,
  findOrCreate,
  noteClaims,
  login,
  frontendUrl,
}: SocialLoginDeps) {
  const known = new Map(providers.all.map((provider) => [provider.id, { provider, port: connect(provider) }]))
  const [first] = known.values()
  /** Says which settings are missing. */
  const missing = { provider: unset, port: connect(unset) }

  function required(id: string | undefined) {
    if (id === undefined) return first ?? missing
    const found = known.get(id)
    if (found === undefined) throw new AppError('not_found', 'There is no such identity provider.')
    return found
  }

  return {
    /** Throws `not_found` for a provider that is not set. Without a name, the first is meant. */
    async begin(id?: string): Promise<{ redirectTo: string; attempt: LoginAttempt }> {
      const { provider, port } = required(id)
      const { redirectTo, attempt } = await port.begin()
      return { redirectTo, attempt: { ...attempt, provider: provider.id } }
    },

    async finish(query: string, attempt: LoginAttempt, language?: Language): Promise<SocialLoginEnd> {
      const { provider, port } = required(attempt.provider)
      const identity = await port.finish(query, attempt)
      if ('problem' in identity)
        return { kind: 'no_verified_email', issuer: identity.issuer, problem: identity.problem }
      if (!providers.speaksFor(provider, identity.email)) return { kind: 'other_domain' }
      const found = await findOrCreate('social', identity, {
        language,
        providerId: provider.id,
        replacesPassword: providers.insteadOfPassword(identity.email)?.id === provider.id,
      })
      if (found.kind !== 'user') return found
      // Found by its subject, it may have an address that another provider speaks for since: he cannot keep it by a new one.
      const bound = found.user.email === undefined ? undefined : providers.boundTo(found.user.email)
      if (bound !== undefined && bound.id !== provider.id) return { kind: 'other_domain' }
      if (identity.groups !== undefined) await noteClaims(found.user, identity.issuer, identity.groups)
      const { jwt_token, main_agent_id, main_thread_id } = await login.enter(found.user)
      const members = new URLSearchParams({ jwt_token, main_agent_id, main_thread_id })
      return { kind: 'entered', token: jwt_token, redirectTo: `${frontendUrl}/auth-callback?${members.toString()}` }
    },
  }
}

const unset: LoginProvider = {
  id: shortFormId,
  name: '',
  issuer: undefined,
  clientId: undefined,
  clientSecret: undefined,
  domains: [],
  trustsAddresses: false,
  groupsClaims: [],
  scopes: [],
  passwords: true,
}
