import type { LoginProvider, LoginProviders } from '../../domain/login-providers.ts'
import type { Tokens } from '../auth/tokens.ts'
import type { Collections } from '../collections.ts'
import type { NoteClaims } from '../groups/claimed-groups.ts'
import type { ModelsNow } from '../models/live-models.ts'
import type { SecretBox } from '../secrets.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { DerivedSecrets } from './derived-secrets.ts'
import { type ExchangeSettings, type VerifyIdToken, createExchange } from './exchange.ts'
import { createExternalUsers } from './external-users.ts'
import { type HomeMembers, createHomes } from './home.ts'
import { createLoginAttempts } from './login-attempts.ts'
import { createLoginGuard } from './login-guard.ts'
import { createLogin } from './login.ts'
import { createPasswordReset } from './password-reset.ts'
import { createPasswords } from './passwords.ts'
import { createProfile } from './profile.ts'
import { createProgramLogins } from './program-logins.ts'
import { type VerifyLogoutToken, createProviderLogout } from './provider-logout.ts'
import { createSignup } from './signup.ts'
import { type IdentityProvider, createSocialLogin } from './social-login.ts'
import { type UsageSettings, createUsage } from './usage.ts'
import { createVerification } from './verification.ts'

/** Connections to identity providers. */
interface IdentityPorts {
  providers: LoginProviders
  connect(provider: LoginProvider): IdentityProvider
  verifyIdToken: VerifyIdToken
  verifyLogoutToken: VerifyLogoutToken
}

interface AccountsDeps {
  collections: Collections
  transaction: RunInTransaction
  tokens: Tokens
  secrets: DerivedSecrets
  workflows: Pick<WorkflowClient, 'start' | 'signalWithStart' | 'update' | 'updateWithStart'>
  homeMembers: HomeMembers
  identity: IdentityPorts
  noteClaims: NoteClaims
  secretBox: SecretBox
  models: ModelsNow
  embeddingModel: string | undefined
  settings: ExchangeSettings & UsageSettings & { threadMaxDefault: number; frontendUrl: string }
}

export type Accounts = ReturnType<typeof createAccounts>

/** Everything that a person does with an account, from sign-up on. */
export function createAccounts(deps: AccountsDeps) {
  const { collections, transaction, tokens, secrets, workflows, homeMembers, identity, noteClaims, settings } = deps
  const { providers } = identity
  const { threadMaxDefault, frontendUrl } = settings
  const passwords = createPasswords()
  const guard = createLoginGuard(collections)
  const homes = createHomes({ collections, transaction, members: homeMembers })
  const login = createLogin({ collections, passwords, guard, homes, tokens, providers })
  const findOrCreate = createExternalUsers({ collections, threadMaxDefault })
  return {
    homes,
    ...createSignup({ collections, passwords, homes, workflows, threadMaxDefault, providers }),
    verification: createVerification({ collections, secrets, workflows }),
    passwordReset: createPasswordReset({ collections, passwords, workflows, providers }),
    usageOf: createUsage(collections, settings, deps),
    programLogins: createProgramLogins({ collections, transaction, secrets, tokens, frontendUrl }),
    profile: createProfile({ collections, passwords, guard }),
    login,
    loginAttempts: createLoginAttempts(deps.secretBox),
    methodsFor: providers.methodsFor,
    social: createSocialLogin({ ...identity, findOrCreate, noteClaims, login, frontendUrl }),
    logOutByProvider: createProviderLogout({ collections, providers, verify: identity.verifyLogoutToken }),
    exchange: createExchange({ settings, verifyIdToken: identity.verifyIdToken, findOrCreate, noteClaims, homes }),
  }
}
