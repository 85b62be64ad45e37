import { emailVerificationContract } from '../../domain/contracts/email-verification.ts'
import { normalizeEmail } from '../../domain/email-address.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { Language } from '../../domain/languages.ts'
import type { LoginProviders } from '../../domain/login-providers.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { userStore } from '../stores/users.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { Homes } from './home.ts'
import { type Passwords, checkNewPassword } from './passwords.ts'
import { refusePassword } from './refuse-password.ts'
import { type HomeCollections, accountStore, homeStore } from './store.ts'

interface SignupInput {
  email: string
  password: string
  first_name?: string
  last_name?: string
  language?: Language | undefined
}

interface SignupDeps {
  collections: Pick<Collections, 'users'> & HomeCollections
  passwords: Pick<Passwords, 'hash'>
  homes: Pick<Homes, 'ensureMainProject'>
  workflows: Pick<WorkflowClient, 'start'>
  threadMaxDefault: number
  providers: Pick<LoginProviders, 'insteadOfPassword'>
}

/** Creates an unverified account and has the first code sent. */
export function createSignup({ collections, passwords, homes, workflows, threadMaxDefault, providers }: SignupDeps) {
  const accounts = accountStore(collections)

  /**
   * Throws `bad_request` for a taken address or an unacceptable password, `forbidden` for one that logs in by a
   * provider. Does not wait for the mail server. `confirm` is called before the account is stored, and refuses by
   * throwing.
   */
  async function signup(
    input: SignupInput,
    userId: string = newId(),
    confirm: () => Promise<void> = async () => {},
  ): Promise<UserRecord> {
    checkNewPassword(input.password)
    const email = normalizeEmail(input.email)
    refusePassword(providers, email)
    if ((await userStore(collections).idOfAddress(email)) !== undefined) throw taken()
    const now = new Date()
    const user: UserRecord = {
      _id: userId,
      email,
      provider: 'email',
      ...(input.first_name === undefined ? {} : { first_name: input.first_name }),
      ...(input.last_name === undefined ? {} : { last_name: input.last_name }),
      ...(input.language === undefined ? {} : { language: input.language }),
      password_hash: await passwords.hash(input.password),
      verified: false,
      thread_counter: 0,
      thread_max: threadMaxDefault,
      created_at: now,
      last_active_at: now,
    }
    await confirm()
    await userStore(collections)
      .add(user)
      .catch((error: unknown) => {
        throw isDuplicateKey(error) ? taken() : error
      })
    return finish(user)
  }

  /** The complete account that an earlier attempt of the same sign-up stored; null if there is none. */
  async function resumeSignup(userId: string): Promise<UserRecord | null> {
    const user = await accounts.findUnverified(userId)
    return user === null ? null : finish(user)
  }

  async function finish(user: UserRecord): Promise<UserRecord> {
    await homes.ensureMainProject(user._id)
    try {
      await workflows.start(emailVerificationContract, { userId: user._id, sendAtStart: true })
    } catch (error) {
      // Without its workflow no code would ever be sent, so the account is removed and the caller can sign up
      // again.
      await homeStore(collections).removeProjects(user._id)
      await accounts.removeUnverified(user._id)
      throw error
    }
    return user
  }

  return { signup, resumeSignup }
}

const taken = () => new AppError('bad_request', 'An account with this e-mail address already exists.')
