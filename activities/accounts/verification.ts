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

/** The side effects of the `email-verification` workflow. */
export function createVerificationActivities({ collections: { users }, mailer, secrets }: VerificationActivityDeps) {
  return {
    /** Derives the code and mails it; a repetition sends the same code again. */
    sendVerificationCode: translateErrors(
      async ({ userId, code }: { userId: string; code: CodeReference }): Promise<'sent' | 'account_gone'> => {
        const user = await users.findById(userId).lean<UserRecord>()
        if (user?.email === undefined || user.verified || user.deleting) return 'account_gone'
        await mailer.send(
          verificationMail(user.email, secrets.verificationCode(code), `verification.${code.runId}.${code.send}`),
        )
        return 'sent'
      },
    ),

    /** Notes for `verification-status` that the code is out from now on. */
    openVerificationCode: translateErrors(
      async (input: {
        userId: string
        code: CodeReference
        attemptsRemaining: number
        validMs: number
      }): Promise<void> => {
        const now = Date.now()
        const verification = {
          run_id: input.code.runId,
          send: input.code.send,
          sent_at: new Date(now),
          expires_at: new Date(now + input.validMs),
          attempts_remaining: input.attemptsRemaining,
        }
        await users.updateOne({ _id: input.userId, verified: false }, { $set: { verification } })
      },
    ),

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
