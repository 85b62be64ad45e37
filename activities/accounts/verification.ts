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
  const recordOf = ({ userId, code }: Pick<OpenCode, 'userId' | 'code'>) => ({
    _id: userId,
    'verification.run_id': code.runId,
    'verification.send': code.send,
  })
  const timesOf = (validMs: number) => {
    const now = Date.now()
    return { sent_at: new Date(now), expires_at: new Date(now + validMs) }
  }

  return {
    /**
     * Derives the code and mails it; a retry sends the same code again. The record is updated first, for
     * `verification-status` and for the API, so that the receiver of the mail can use the code at once.
     */
    sendVerificationCode: translateErrors(async (input: OpenCode): Promise<'sent' | 'account_gone'> => {
      const { userId, code, attemptsRemaining, validMs } = input
      const user = await users.findById(userId).lean<UserRecord>()
      if (user?.email === undefined || user.verified || user.deleting) return 'account_gone'
      const noted = user.verification?.run_id === code.runId && user.verification.send === code.send
      if (!noted) {
        const attempts = { attempts_remaining: attemptsRemaining, ...timesOf(validMs) }
        const verification = { run_id: code.runId, send: code.send, ...attempts }
        await users.updateOne({ _id: userId, verified: false }, { $set: { verification } })
      }
      const messageId = `verification.${code.runId}.${code.send}`
      const { email: to, language } = user
      await mailer.send(verificationMail({ to, language, code: secrets.verificationCode(code), messageId }))
      return 'sent'
    }),

    /** The mail server accepted the code: its 15 minutes begin. Attempts recorded in the meantime are kept. */
    openVerificationCode: translateErrors(async (input: OpenCode): Promise<void> => {
      const times = timesOf(input.validMs)
      await users.updateOne(recordOf(input), {
        $set: { 'verification.sent_at': times.sent_at, 'verification.expires_at': times.expires_at },
        $min: { 'verification.attempts_remaining': input.attemptsRemaining },
      })
    }),

    recordAttempt: translateErrors(async (input: Omit<OpenCode, 'validMs'>): Promise<void> => {
      await users.updateOne(recordOf(input), { $min: { 'verification.attempts_remaining': input.attemptsRemaining } })
    }),

    markVerified: translateErrors(async ({ userId }: { userId: string }): Promise<void> => {
      await users.updateOne({ _id: userId }, { $set: { verified: true }, $unset: { verification: '' } })
    }),
  }
}
