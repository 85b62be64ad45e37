import type { Tokens } from '../auth/tokens.ts'
import type { Collections } from '../collections.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { DerivedSecrets } from './derived-secrets.ts'
import { type HomeMembers, createHomes } from './home.ts'
import { createLogin } from './login.ts'
import { createLoginGuard } from './login-guard.ts'
import { createPasswords } from './passwords.ts'
import { type PasswordResetWorkflows, createPasswordReset } from './password-reset.ts'
import { createProfile } from './profile.ts'
import { createSignup } from './signup.ts'
import { createUsage } from './usage.ts'
import { createVerification } from './verification.ts'
import type { VerificationWorkflows } from './verification-workflows.ts'

export type AccountWorkflows = VerificationWorkflows & PasswordResetWorkflows

export interface AccountsDeps {
  collections: Collections
  transaction: RunInTransaction
  tokens: Tokens
  secrets: DerivedSecrets
  workflows: AccountWorkflows
  homeMembers: HomeMembers
  threadMaxDefault: number
}

export type Accounts = ReturnType<typeof createAccounts>

/** All that a person does with an account, from signup on. */
export function createAccounts(deps: AccountsDeps) {
  const { collections, transaction, tokens, secrets, workflows, homeMembers, threadMaxDefault } = deps
  const passwords = createPasswords()
  const guard = createLoginGuard(collections)
  const homes = createHomes({ collections, transaction, members: homeMembers })
  return {
    homes,
    signup: createSignup({ collections, passwords, homes, workflows, threadMaxDefault }),
    verification: createVerification({ collections, secrets, workflows }),
    passwordReset: createPasswordReset({ collections, passwords, workflows }),
    usageOf: createUsage(collections),
    profile: createProfile({ collections, passwords, guard }),
    login: createLogin({ collections, passwords, guard, homes, tokens }),
  }
}
