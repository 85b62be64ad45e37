import { normalizeEmail } from './email-address.ts'

/** An OpenID provider through which people log in. */
export interface LoginProvider {
  id: string
  /** On its button. */
  name: string
  issuer: string | undefined
  clientId: string | undefined
  clientSecret: string | undefined
  /**
   * In lower case. If there are any, the provider speaks for addresses of these domains and of no other, and no other
   * provider speaks for them.
   */
  domains: readonly string[]
  /** Its addresses count as verified although its tokens do not say so. */
  trustsAddresses: boolean
  /** Claims that name the groups of a user. */
  groupsClaims: readonly string[]
  /** Asked for beside openid, email and profile. */
  scopes: readonly string[]
  /** Whether people with addresses of its domains may also log in with a password. */
  passwords: boolean
}

/** The one that the settings `OAUTH_…` name. */
export const shortFormId = 'social'

export type LoginProviders = ReturnType<typeof loginProviders>

/** Which of the providers an address may use. */
export function loginProviders(all: readonly LoginProvider[]) {
  const byDomain = new Map(all.flatMap((provider) => provider.domains.map((domain) => [domain, provider] as const)))
  /** Undefined if the address is free to use any provider without domains. */
  const boundTo = (email: string) => byDomain.get(domainOf(email))

  return {
    all,
    boundTo,

    /** Whether a provider may say that somebody has this address. */
    speaksFor(provider: LoginProvider, email: string): boolean {
      const bound = boundTo(email)
      return bound === undefined ? provider.domains.length === 0 : bound.id === provider.id
    },

    /** The provider by which an address logs in instead of with a password. */
    insteadOfPassword(email: string): LoginProvider | undefined {
      const bound = boundTo(email)
      return bound === undefined || bound.passwords ? undefined : bound
    },

    /** How somebody can log in: all ways, or those of the address; accounts make no difference. */
    methodsFor(email: string | undefined): { password: boolean; providers: readonly LoginProvider[] } {
      const bound = email === undefined ? undefined : boundTo(email)
      if (bound !== undefined) return { password: bound.passwords, providers: [bound] }
      return {
        password: true,
        providers: email === undefined ? all : all.filter(({ domains }) => domains.length === 0),
      }
    },
  }
}

function domainOf(email: string): string {
  const address = normalizeEmail(email)
  return address.slice(address.lastIndexOf('@') + 1)
}
