import type { CodeReference } from '../../domain/contracts/email-verification.ts'
import type { DerivedSecrets } from '../../services/accounts/derived-secrets.ts'
import { verificationMail } from '../../services/accounts/mails.ts'
import { verificationStore } from '../../services/accounts/store.ts'
import type { Collections } from '../../services/collections.ts'
import type { Mailer } from '../../services/mailer.ts'
import { userStore } from '../../services/stores/users.ts'
import { translateErrors } from '../durable.ts'

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
export function createVerificationActivities({ collections, mailer, secrets }: VerificationActivityDeps) {
  const store = verificationStore(collections)
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
      const user = await userStore(collections).find(userId)
      if (user?.email === undefined || user.verified || user.deleting) return 'account_gone'
      const noted = user.verification?.run_id === code.runId && user.verification.send === code.send
      if (!noted) {
        const attempts = { attempts_remaining: attemptsRemaining, ...timesOf(validMs) }
        await store.add(userId, { run_id: code.runId, send: code.send, ...attempts })
      }
      const messageId = `verification.${code.runId}.${code.send}`
      const { email: to, language } = user
      await mailer.send(verificationMail({ to, language, code: secrets.verificationCode(code), messageId }))
      return 'sent'
    }),

    /** The mail server accepted the code: its 15 minutes begin. */
    openVerificationCode: translateErrors(async (input: OpenCode): Promise<void> => {
      await store.open(input, timesOf(input.validMs), input.attemptsRemaining)
    }),

    recordAttempt: translateErrors(async (input: Omit<OpenCode, 'validMs'>): Promise<void> => {
      await store.noteAttempts(input, input.attemptsRemaining)
    }),

    markVerified: translateErrors(async ({ userId }: { userId: string }): Promise<void> => {
      await store.markVerified(userId)
    }),
  }
}
