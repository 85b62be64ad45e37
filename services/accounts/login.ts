import { normalizeEmail } from '../../domain/email-address.ts'
import { AppError } from '../../domain/errors.ts'
import type { LoginProviders } from '../../domain/login-providers.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Tokens } from '../auth/tokens.ts'
import { requireUsable } from '../auth/usable.ts'
import type { Collections } from '../collections.ts'
import type { Homes } from './home.ts'
import type { LoginGuard } from './login-guard.ts'
import type { Passwords } from './passwords.ts'
import { refusePassword } from './refuse-password.ts'
import { accountStore } from './store.ts'

interface LoginAnswer {
  jwt_token: string
  main_agent_id: string
  main_thread_id: string
}

interface LoginDeps {
  collections: Pick<Collections, 'users'>
  passwords: Passwords
  guard: LoginGuard
  homes: Pick<Homes, 'ensureHome'>
  tokens: Pick<Tokens, 'sign'>
  providers: Pick<LoginProviders, 'insteadOfPassword'>
}

export type Login = ReturnType<typeof createLogin>

/** Login by password, and the common end of every kind of login. */
export function createLogin({ collections, passwords, guard, homes, tokens, providers }: LoginDeps) {
  const accounts = accountStore(collections)
  return { withPassword, enter }

  /**
   * Throws `unauthenticated` for wrong credentials and for an unverified address, `too_many_requests` after ten wrong
   * passwords, `forbidden` for an address that logs in by a provider. An unknown address takes as long as a wrong
   * password.
   */
  async function withPassword(input: { email: string; password: string }): Promise<LoginAnswer> {
    const email = normalizeEmail(input.email)
    refusePassword(providers, email)
    await guard.refuseIfSlowedDown(email)
    const user = await accounts.findByAddressOfAny(email)
    if (!(await passwords.matches(input.password, user?.password_hash)) || user === null || user.deleting) {
      await guard.recordFailure(email)
      throw new AppError('unauthenticated', 'The e-mail address or the password is wrong.')
    }
    await guard.recordSuccess(email)
    if (!user.verified) throw new AppError('unauthenticated', 'This e-mail address is not verified yet.')
    await renewHash(user, input.password)
    return enter(user)
  }

  /** Ensures the user's home and signs a token for it. */
  async function enter(user: UserRecord): Promise<LoginAnswer> {
    requireUsable(user)
    const home = await homes.ensureHome(user._id)
    await accounts.noteLogin(user._id)
    return {
      jwt_token: await tokens.sign({ user_id: user._id, project_id: home.projectId }),
      main_agent_id: home.assistantId,
      main_thread_id: home.threadId,
    }
  }

  async function renewHash(user: UserRecord, password: string): Promise<void> {
    if (user.password_hash === undefined || !passwords.needsRenewal(user.password_hash)) return
    await accounts.renewHash(user, await passwords.hash(password))
  }
}
