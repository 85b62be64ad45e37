import type { DerivedSecrets } from '../../services/accounts/derived-secrets.ts'
import type { Collections } from '../../services/collections.ts'
import type { Mailer } from '../../services/mailer.ts'
import { createInvitationActivities } from './invitation.ts'
import { createPasswordResetActivities } from './password-reset.ts'
import { createVerificationActivities } from './verification.ts'

export interface AccountActivityDeps {
  collections: Collections
  mailer: Mailer
  secrets: DerivedSecrets
  frontendUrl: string
}

/** The account activities of the queue `accounts`. */
export function createAccountActivities(deps: AccountActivityDeps) {
  return {
    ...createVerificationActivities(deps),
    ...createPasswordResetActivities(deps),
    ...createInvitationActivities(deps),
  }
}
