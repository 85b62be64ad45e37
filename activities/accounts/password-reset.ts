import { resetValidityMs } from '../../domain/contracts/password-reset.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import { type DerivedSecrets, resetTokenHash } from '../../services/accounts/derived-secrets.ts'
import { loginFailureKey } from '../../services/accounts/login-guard.ts'
import { passwordResetMail } from '../../services/accounts/mails.ts'
import type { Collections } from '../../services/collections.ts'
import type { Mailer } from '../../services/mailer.ts'
import { translateErrors } from '../translate-errors.ts'

interface PasswordResetActivityDeps {
  collections: Pick<Collections, 'users' | 'passwordResets' | 'pendingPasswords' | 'loginFailures'>
  mailer: Pick<Mailer, 'send'>
  secrets: Pick<DerivedSecrets, 'resetToken'>
  frontendUrl: string
}

/** The side effects of the `password-reset` workflow. */
export function createPasswordResetActivities({
  collections,
  mailer,
  secrets,
  frontendUrl,
}: PasswordResetActivityDeps) {
  const { users, passwordResets, pendingPasswords, loginFailures } = collections

  return {
    /** Derives the token, stores its hash, and mails the link; a retry sends the same link again. */
    sendPasswordReset: translateErrors(
      async ({ userId, tokenId }: { userId: string; tokenId: string }): Promise<'sent' | 'account_gone'> => {
        const user = await users.findById(userId).lean<UserRecord>()
        if (user?.email === undefined || user.deleting) return 'account_gone'
        const token = secrets.resetToken(tokenId)
        const record = { user_id: userId, token_id: tokenId, remove_at: new Date(Date.now() + 2 * resetValidityMs) }
        await passwordResets.updateOne({ _id: resetTokenHash(token) }, { $set: record }, { upsert: true })
        const link = `${frontendUrl}/reset-password?token=${token}`
        const { email: to, language } = user
        await mailer.send(passwordResetMail({ to, language, link, messageId: `reset.${tokenId}` }))
        return 'sent'
      },
    ),

    /**
     * Makes the pending password the user's. The receiver of the mail controls the address, so the address is
     * marked as verified, and earlier wrong passwords no longer count. The pending password is deleted last: while
     * it exists, the other steps may not be complete.
     */
    applyNewPassword: translateErrors(
      async ({ userId, redemptionId }: { userId: string; redemptionId: string }): Promise<void> => {
        const pending = await pendingPasswords.findOne({ _id: redemptionId, user_id: userId }).lean()
        if (pending === null) return
        const user = await users
          .findOneAndUpdate(
            { _id: userId, deleting: { $ne: true } },
            {
              $set: { password_hash: pending.password_hash, password_changed_at: new Date(), verified: true },
              $unset: { verification: '' },
            },
          )
          .lean<UserRecord>()
        if (user?.email !== undefined) await loginFailures.deleteOne({ _id: loginFailureKey(user.email) })
        await pendingPasswords.deleteOne({ _id: redemptionId })
      },
    ),
  }
}
