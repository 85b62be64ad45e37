import { normalizeEmail } from '../../domain/accounts.ts'
import { newId } from '../../domain/ids.ts'
import type { Provider, UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'

/** Who somebody is at an identity provider, proven by that provider. */
export interface ProvenIdentity {
  /** `{issuer}|{sub}`: stays when the address changes. */
  subject: string
  email: string
  firstName?: string | undefined
  lastName?: string | undefined
}

export type ExternalUser = { kind: 'user'; user: UserRecord } | { kind: 'other_provider'; provider: Provider }

interface ExternalUsersDeps {
  collections: Pick<Collections, 'users'>
  threadMaxDefault: number
}

/**
 * Finds or makes the account of a proven identity: by its subject, then by its address among the
 * accounts of the same provider. Accounts of different providers are never merged.
 */
export function createExternalUsers({ collections: { users }, threadMaxDefault }: ExternalUsersDeps) {
  return async function findOrCreate(
    provider: Exclude<Provider, 'email'>,
    identity: ProvenIdentity,
  ): Promise<ExternalUser> {
    const email = normalizeEmail(identity.email)
    for (;;) {
      const bySubject = await users.findOne({ provider, subject: identity.subject }).lean<UserRecord>()
      if (bySubject !== null) return { kind: 'user', user: bySubject }
      const byEmail = await users.findOne({ email }).lean<UserRecord>()
      if (byEmail !== null && byEmail.provider !== provider) {
        return { kind: 'other_provider', provider: byEmail.provider }
      }
      try {
        if (byEmail !== null) await users.updateOne({ _id: byEmail._id }, { $set: { subject: identity.subject } })
        else await users.create(newRecord(provider, email, identity))
      } catch (error) {
        // Another request for the same person was first: it is found the next time round.
        if (!isDuplicateKey(error)) throw error
      }
    }
  }

  function newRecord(provider: Provider, email: string, identity: ProvenIdentity): UserRecord {
    const now = new Date()
    return {
      _id: newId(),
      email,
      provider,
      subject: identity.subject,
      ...(identity.firstName === undefined ? {} : { first_name: identity.firstName }),
      ...(identity.lastName === undefined ? {} : { last_name: identity.lastName }),
      verified: true,
      thread_counter: 0,
      thread_max: threadMaxDefault,
      created_at: now,
      last_active_at: now,
    }
  }
}
