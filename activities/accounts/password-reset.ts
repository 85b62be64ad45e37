import { resetValidityMs } from '../../domain/contracts/password-reset.ts'
import { type DerivedSecrets, resetTokenHash } from '../../services/accounts/derived-secrets.ts'
import { loginFailureKey } from '../../services/accounts/login-guard.ts'
import { passwordResetMail } from '../../services/accounts/mails.ts'
import { accountStore, loginFailureStore, resetStore } from '../../services/accounts/store.ts'
import type { Collections } from '../../services/collections.ts'
import type { Mailer } from '../../services/mailer.ts'
import { userStore } from '../../services/stores/users.ts'
import { translateErrors } from '../durable.ts'

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
  const resets = resetStore(collections)

  return {
    /** Derives the token, stores its hash, and mails the link; a retry sends the same link again. */
    sendPasswordReset: translateErrors(
      async ({ userId, tokenId }: { userId: string; tokenId: string }): Promise<'sent' | 'account_gone'> => {
        const user = await userStore(collections).find(userId)
        if (user?.email === undefined || user.deleting) return 'account_gone'
        const token = secrets.resetToken(tokenId)
        const record = { user_id: userId, token_id: tokenId, remove_at: new Date(Date.now() + 2 * resetValidityMs) }
        await resets.put(resetTokenHash(token), record)
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
        const pending = await resets.findPending(userId, redemptionId)
        if (pending === null) return
        const user = await accountStore(collections).replaceForgotten(userId, pending.password_hash)
        if (user?.email !== undefined) await loginFailureStore(collections).remove([loginFailureKey(user.email)])
        await resets.removePending(redemptionId)
      },
    ),
  }
}
