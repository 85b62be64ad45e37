import type { Tokens } from '../auth/tokens.ts'
import type { Collections } from '../collections.ts'
import type { DerivedSecrets } from './derived-secrets.ts'
import { type HomeMembers, createHomes } from './home.ts'
import { createLogin } from './login.ts'
import { createLoginGuard } from './login-guard.ts'
import { createPasswords } from './passwords.ts'
import { createProfile } from './profile.ts'
import { createSignup } from './signup.ts'
import { createVerification } from './verification.ts'
import type { VerificationWorkflows } from './verification-workflows.ts'

export type AccountWorkflows = VerificationWorkflows

export interface AccountsDeps {
  collections: Collections
  tokens: Tokens
  secrets: DerivedSecrets
  workflows: AccountWorkflows
  homeMembers: HomeMembers
  threadMaxDefault: number
}

export type Accounts = ReturnType<typeof createAccounts>

/** All that a person does with an account, from signup on. */
export function createAccounts({
  collections,
  tokens,
  secrets,
  workflows,
  homeMembers,
  threadMaxDefault,
}: AccountsDeps) {
  const passwords = createPasswords()
  const guard = createLoginGuard(collections)
  const homes = createHomes({ collections, members: homeMembers })
  return {
    homes,
    signup: createSignup({ collections, passwords, homes, workflows, threadMaxDefault }),
    verification: createVerification({ collections, secrets, workflows }),
    profile: createProfile(collections),
    login: createLogin({ collections, passwords, guard, homes, tokens }),
  }
}
