import type { CodeReference } from '../../domain/contracts/email-verification.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { DerivedSecrets } from '../../services/accounts/derived-secrets.ts'
import { verificationMail } from '../../services/accounts/mails.ts'
import type { Collections } from '../../services/collections.ts'
import type { Mailer } from '../../services/mailer.ts'
import { translateErrors } from '../translate-errors.ts'

interface VerificationActivityDeps {
  collections: Pick<Collections, 'users'>
  mailer: Pick<Mailer, 'send'>
  secrets: Pick<DerivedSecrets, 'verificationCode'>
}

interface OpenCode {
  userId: string
  code: CodeReference
  attemptsRemaining: number
  validMs: number
}

/** The side effects of the `email-verification` workflow. */
export function createVerificationActivities({ collections: { users }, mailer, secrets }: VerificationActivityDeps) {
  /** What `verification-status` shows of the code, and where the API finds which code counts. */
  const showCode = async ({ userId, code, attemptsRemaining, validMs }: OpenCode) => {
    const now = Date.now()
    const verification = {
      run_id: code.runId,
      send: code.send,
      sent_at: new Date(now),
      expires_at: new Date(now + validMs),
      attempts_remaining: attemptsRemaining,
    }
    await users.updateOne({ _id: userId, verified: false }, { $set: { verification } })
  }

  return {
    /** Derives the code and mails it; a repetition sends the same code again. The code is shown first: who has the mail finds it there. */
    sendVerificationCode: translateErrors(async (input: OpenCode): Promise<'sent' | 'account_gone'> => {
      const user = await users.findById(input.userId).lean<UserRecord>()
      if (user?.email === undefined || user.verified || user.deleting) return 'account_gone'
      await showCode(input)
      const { code } = input
      const messageId = `verification.${code.runId}.${code.send}`
      await mailer.send(verificationMail(user.email, secrets.verificationCode(code), messageId))
      return 'sent'
    }),

    /** The mail server took the code: its time begins. */
    openVerificationCode: translateErrors(showCode),

    recordAttempt: translateErrors(
      async ({
        userId,
        code,
        attemptsRemaining,
      }: {
        userId: string
        code: CodeReference
        attemptsRemaining: number
      }): Promise<void> => {
        await users.updateOne(
          { _id: userId, 'verification.run_id': code.runId, 'verification.send': code.send },
          { $min: { 'verification.attempts_remaining': attemptsRemaining } },
        )
      },
    ),

    markVerified: translateErrors(async ({ userId }: { userId: string }): Promise<void> => {
      await users.updateOne({ _id: userId }, { $set: { verified: true }, $unset: { verification: '' } })
    }),
  }
}
