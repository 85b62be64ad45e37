import { codeAttempts, emailVerificationContract, resendIntervalMs } from '../../domain/contracts/email-verification.ts'
import { normalizeEmail } from '../../domain/email-address.ts'
import { AppError } from '../../domain/errors.ts'
import type { UserRecord, VerificationRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import { createInTurn } from '../in-turn.ts'
import { userStore } from '../stores/users.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { DerivedSecrets } from './derived-secrets.ts'
import { accountStore } from './store.ts'

interface VerificationDeps {
  collections: Pick<Collections, 'users'>
  secrets: Pick<DerivedSecrets, 'isVerificationCode'>
  workflows: Pick<WorkflowClient, 'update' | 'updateWithStart'>
}

/** Times are ISO 8601; null if not known. */
export interface VerificationStatus {
  email: string
  verified: boolean
  pending: boolean
  expires_at: string | null
  attempts_remaining: number | null
  resend_available_at: string | null
}

/** E-mail verification as callers see it. The workflow decides; this code only derives and compares codes. */
export function createVerification({ collections, secrets, workflows }: VerificationDeps) {
  const findUser = async (email: string) => {
    const user = await accountStore(collections).findByAddressOfAny(normalizeEmail(email))
    return user?.deleting ? null : user
  }

  const inTurn = createInTurn()

  const isRight = ({ verification }: UserRecord, given: string) =>
    verification !== undefined && secrets.isVerificationCode(codeOf(verification), given)

  async function attempt(user: UserRecord, given: string): Promise<void> {
    if (user.verified) throw alreadyVerified()
    let code = user.verification && codeOf(user.verification)
    // The record may not have the newest code. Then the workflow answers with the valid one, and this counts as no attempt.
    for (let round = 0; round < 3; round++) {
      const correct = code !== undefined && secrets.isVerificationCode(code, given)
      const message = { code: code ?? { runId: '', send: 0 }, correct }
      const outcome = await workflows.update(emailVerificationContract, { userId: user._id }, 'verify', message)
      if (outcome.status === 'refused') throw outcome.cause
      if (outcome.status === 'not_running') throw await whyEnded(user._id)
      const result = outcome.answer
      if (result.outcome === 'verified') return
      if (result.outcome === 'already_verified') throw alreadyVerified()
      if (result.outcome === 'wrong') throw wrongCode(result.attemptsRemaining)
      if (result.outcome !== 'superseded') throw await whyEnded(user._id)
      code = result.current
    }
    throw invalidCode()
  }

  /** The workflow accepts no more attempts: another attempt was right a moment ago, or the code has expired. */
  async function whyEnded(userId: string): Promise<AppError> {
    const user = await userStore(collections).findVerified(userId)
    return user?.verified ? alreadyVerified() : invalidCode()
  }

  return {
    /** Throws `bad_request` unless the code is the valid one. Of several correct attempts at once, one succeeds. */
    async verify(email: string, given: string): Promise<void> {
      const user = await findUser(email)
      if (user === null) throw invalidCode()
      if (!isRight(user, given)) return attempt(user, given)
      // Temporal limits a workflow to ten concurrent updates, so correct attempts queue here. Only callers
      // who know the code get here, so that strangers cannot make its owner wait.
      return inTurn(user._id, async () => attempt((await findUser(email)) ?? user, given))
    },

    /**
     * Throws `not_found` for an unknown address, `bad_request` within a minute of the last code or if the address
     * is verified.
     */
    async resend(email: string): Promise<void> {
      const user = await findUser(email)
      if (user === null) throw new AppError('not_found', 'There is no account with this e-mail address.')
      if (user.verified) throw alreadyVerified()
      // The workflow enforces the minute while it runs; this check covers a workflow that was terminated.
      const waitMs = (user.verification?.sent_at.getTime() ?? 0) + resendIntervalMs - Date.now()
      if (waitMs > 0) throw tooSoon(Math.ceil(waitMs / 1000))
      const start = { userId: user._id, sendAtStart: false }
      const ask = () => workflows.updateWithStart(emailVerificationContract, start, 'resend')
      let outcome = await ask()
      // It ended in this moment: the next attempt starts another one.
      for (let tries = 1; outcome.status === 'not_running' && tries < 5; tries++) outcome = await ask()
      if (outcome.status === 'refused') throw outcome.cause
      if (outcome.status === 'not_running')
        throw new AppError('unavailable', 'The verification ended in the meantime; request a new code.')
      const result = outcome.answer
      if (result.outcome === 'too_soon') throw tooSoon(result.retryAfterSeconds)
      if (result.outcome === 'verified') throw alreadyVerified()
    },

    async status(email: string): Promise<VerificationStatus> {
      const address = normalizeEmail(email)
      const user = await findUser(address)
      const code = user?.verified ? undefined : user?.verification
      const expired = code !== undefined && code.expires_at.getTime() <= Date.now()
      return {
        email: address,
        verified: user?.verified ?? false,
        pending: user !== null && !user.verified,
        expires_at: code?.expires_at.toISOString() ?? null,
        attempts_remaining: code === undefined ? null : expired ? 0 : Math.min(code.attempts_remaining, codeAttempts),
        resend_available_at: code ? new Date(code.sent_at.getTime() + resendIntervalMs).toISOString() : null,
      }
    },
  }
}

const codeOf = ({ run_id: runId, send }: VerificationRecord) => ({ runId, send })

const alreadyVerified = () => new AppError('bad_request', 'This e-mail address is already verified.')
const invalidCode = () => new AppError('bad_request', 'The code is invalid or has expired; request a new one.')

function wrongCode(attemptsRemaining: number): AppError {
  if (attemptsRemaining === 0)
    return new AppError('bad_request', 'The code is wrong and is no longer valid; request a new one.')
  return new AppError('bad_request', `The code is wrong; attempts left: ${attemptsRemaining}.`)
}

function tooSoon(seconds: number): AppError {
  return new AppError('bad_request', `A code was sent within the last minute; try again in ${seconds} seconds.`, {
    retryAfterSeconds: seconds,
  })
}
