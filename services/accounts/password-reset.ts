import { passwordResetContract, resetValidityMs } from '../../domain/contracts/password-reset.ts'
import { normalizeEmail } from '../../domain/email-address.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { LoginProviders } from '../../domain/login-providers.ts'
import type { Collections } from '../collections.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import { resetTokenHash } from './derived-secrets.ts'
import { type Passwords, checkNewPassword } from './passwords.ts'
import { refusePassword } from './refuse-password.ts'
import { accountStore, resetStore } from './store.ts'

interface PasswordResetDeps {
  collections: Pick<Collections, 'users' | 'passwordResets' | 'pendingPasswords'>
  passwords: Pick<Passwords, 'hash'>
  workflows: Pick<WorkflowClient, 'signalWithStart' | 'update'>
  providers: Pick<LoginProviders, 'insteadOfPassword'>
}

/** Password reset as callers see it: the receiver of the mail may choose a new password, once. */
export function createPasswordReset({ collections, passwords, workflows, providers }: PasswordResetDeps) {
  const resets = resetStore(collections)

  return {
    /** Throws `not_found` for an address without a password account. Does not wait for the mail server. */
    async request(email: string): Promise<void> {
      refusePassword(providers, email)
      const user = await accountStore(collections).findByAddressOfAny(normalizeEmail(email))
      if (user === null || user.deleting)
        throw new AppError('not_found', 'There is no account with this e-mail address.')
      if (user.provider !== 'email') {
        throw new AppError('not_found', 'This account has no password; log in through its identity provider.')
      }
      // Once the signal is stored, older tokens are invalid.
      await workflows.signalWithStart(passwordResetContract, { userId: user._id }, 'request')
    },

    /** Throws `bad_request` for an unacceptable password (the token stays valid) and for an invalid token. */
    async redeem(input: { token: string; new_password: string }): Promise<void> {
      checkNewPassword(input.new_password)
      const reset = await resets.findOfAny(resetTokenHash(input.token))
      if (reset === null) throw invalidToken()
      const redemptionId = newId()
      await resets.addPending({
        _id: redemptionId,
        user_id: reset.user_id,
        password_hash: await passwords.hash(input.new_password),
        remove_at: new Date(Date.now() + resetValidityMs),
      })
      const message = { tokenId: reset.token_id, redemptionId }
      const outcome = await workflows.update(passwordResetContract, { userId: reset.user_id }, 'redeem', message)
      if (outcome.status === 'refused') throw outcome.cause
      if (outcome.status === 'answered' && outcome.answer.outcome === 'changed') return
      await resets.removePending(redemptionId)
      throw invalidToken()
    },
  }
}

const invalidToken = () =>
  new AppError('bad_request', 'The link is invalid, was used, or has expired; request a new one.')
