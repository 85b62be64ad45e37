import { normalizeEmail } from '../../domain/email-address.ts'
import { newId } from '../../domain/ids.ts'
import type { Language } from '../../domain/languages.ts'
import type { Provider, UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { userStore } from '../stores/users.ts'
import { accountStore } from './store.ts'

/** An identity proven by an identity provider. */
export interface ProvenIdentity {
  issuer: string
  /** The claim `sub`: unique within the issuer and never reassigned (OpenID Connect Core, section 5.7). */
  subject: string
  email: string
  firstName?: string | undefined
  lastName?: string | undefined
}

type ExternalUser =
  | { kind: 'user'; user: UserRecord }
  | { kind: 'other_provider'; provider: Provider }
  /** The address has an account of the same kind that is bound to another subject. */
  | { kind: 'other_subject' }

interface EntryOptions {
  /** Of a new account. */
  language?: Language | undefined
  /** The identity provider that was asked: one that provisioning has made is bound by its own only. */
  providerId?: string
  /** An account with a password and this address becomes one of the provider. */
  replacesPassword?: boolean
}

interface ExternalUsersDeps {
  collections: Pick<Collections, 'users'>
  threadMaxDefault: number
}

/**
 * Finds or creates the account of a proven identity. An account is bound to the issuer's subject: another subject
 * with the same address, such as the next holder of a mailbox, gets no access. An account that is not bound yet is
 * bound to the first subject with its address. Accounts of different kinds are never merged, unless the operator has turned
 * passwords off for the domain.
 */
export function createExternalUsers({ collections, threadMaxDefault }: ExternalUsersDeps) {
  const accounts = accountStore(collections)
  return async function findOrCreate(
    provider: Exclude<Provider, 'email'>,
    identity: ProvenIdentity,
    { language, providerId, replacesPassword = false }: EntryOptions = {},
  ): Promise<ExternalUser> {
    const email = normalizeEmail(identity.email)
    for (;;) {
      const bySubject = await accounts.findBySubject(provider, boundSubject(identity))
      if (bySubject !== null) return { kind: 'user', user: bySubject }
      const byEmail = await accounts.findByAddressOfAny(email)
      if (byEmail?.provider === 'email' && replacesPassword) {
        // The operator has said that addresses of this domain log in here and not with a password.
        await accounts.replacePassword(byEmail._id, provider, boundSubject(identity))
        continue
      }
      if (byEmail !== null && byEmail.provider !== provider) {
        return { kind: 'other_provider', provider: byEmail.provider }
      }
      if (byEmail?.subject !== undefined && byEmail.subject !== boundSubject(identity)) {
        return { kind: 'other_subject' }
      }
      const expected = byEmail?.subject === undefined ? byEmail?.scim?.provider : undefined
      if (expected !== undefined && expected !== providerId) return { kind: 'other_subject' }
      try {
        if (byEmail === null) await userStore(collections).add(newRecord(provider, email, identity, language))
        else await accounts.bind(byEmail._id, boundSubject(identity))
      } catch (error) {
        // Another request for the same person was first; the next attempt finds its account.
        if (!isDuplicateKey(error)) throw error
      }
    }
  }

  function newRecord(provider: Provider, email: string, identity: ProvenIdentity, language?: Language): UserRecord {
    const now = new Date()
    return {
      _id: newId(),
      email,
      provider,
      subject: boundSubject(identity),
      ...(identity.firstName === undefined ? {} : { first_name: identity.firstName }),
      ...(identity.lastName === undefined ? {} : { last_name: identity.lastName }),
      ...(language === undefined ? {} : { language }),
      verified: true,
      thread_counter: 0,
      thread_max: threadMaxDefault,
      created_at: now,
      last_active_at: now,
    }
  }
}

/**
 * The stored form. A trailing slash of the issuer is removed, because settings and tokens do not always agree about
 * it.
 */
export function boundSubject({ issuer, subject }: Pick<ProvenIdentity, 'issuer' | 'subject'>): string {
  return `${issuer.replace(/\/+$/, '')}|${subject}`
}
