import {
  ActivityFailure,
  allHandlersFinished,
  condition,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'
import type { createVerificationActivities } from '../activities/accounts/verification.ts'
import {
  type EmailVerificationOutcome,
  type ResendCodeResult,
  type VerifyCodeResult,
  codeAttempts,
  codeValidityMs,
  emailVerificationContract,
  resendIntervalMs,
} from '../domain/contracts/email-verification.ts'
import type { WorkflowOf } from '../domain/contracts/workflow-contract.ts'
import { accountWritePolicy, mailPolicy } from './account-policies.ts'

const { verify, resend } = emailVerificationContract.updates

type Activities = ReturnType<typeof createVerificationActivities>
const { sendVerificationCode } = proxyActivities<Pick<Activities, 'sendVerificationCode'>>(mailPolicy)
const { openVerificationCode, recordAttempt, markVerified } =
  proxyActivities<Pick<Activities, 'openVerificationCode' | 'recordAttempt' | 'markVerified'>>(accountWritePolicy)

/**
 * One code at a time: it is valid for 15 minutes after the mail server has accepted it, and for three attempts. A
 * new one may be requested a minute after the last, and invalidates it at once. Attempts and requests are handled
 * one at a time, so none counts twice. The code itself is never here: the caller of `verify` has compared it.
 */
export const emailVerificationWorkflow: WorkflowOf<typeof emailVerificationContract> = async ({
  userId,
  sendAtStart,
}) => {
  const { runId } = workflowInfo()
  let send = sendAtStart ? 1 : 0
  let attempts = sendAtStart ? codeAttempts : 0
  let sending = sendAtStart
  let lastSentAt: number | undefined
  let verified = false
  let isStored = false

  setHandler(verify, async ({ code, correct }): Promise<VerifyCodeResult> => {
    if (verified) {
      // Callers log in as soon as they are told this, so the database must hold it.
      await condition(() => isStored)
      return { outcome: 'already_verified' }
    }
    if (code.runId !== runId || code.send !== send) return { outcome: 'superseded', current: { runId, send } }
    if (attempts === 0) return { outcome: 'spent' }
    attempts -= 1
    if (correct) {
      verified = true
      await markVerified({ userId })
      isStored = true
      return { outcome: 'verified' }
    }
    const attemptsRemaining = attempts
    await recordAttempt({ userId, code, attemptsRemaining })
    return { outcome: 'wrong', attemptsRemaining }
  })

  setHandler(resend, (): ResendCodeResult => {
    if (verified) return { outcome: 'verified' }
    const waitMs = sending ? resendIntervalMs : (lastSentAt ?? -Infinity) + resendIntervalMs - Date.now()
    if (waitMs > 0) return { outcome: 'too_soon', retryAfterSeconds: Math.ceil(waitMs / 1000) }
    send += 1
    attempts = codeAttempts
    sending = true
    return { outcome: 'accepted' }
  })

  // Started by a resend, the workflow waits for that update, which arrives at once.
  if (!sendAtStart) await condition(() => sending, resendIntervalMs)

  let outcome: EmailVerificationOutcome = 'expired'
  while (sending && !verified) {
    const code = { runId, send }
    setCurrentDetails(`Code ${send} is being sent.`)
    const sent = await deliver(userId, code)
    sending = false
    lastSentAt = Date.now()
    if (sent === 'account_gone') {
      outcome = 'account_gone'
      break
    }
    if (sent === 'undeliverable') {
      attempts = 0
      await recordAttempt({ userId, code, attemptsRemaining: 0 })
    } else if (!verified) {
      await openVerificationCode({ userId, code, attemptsRemaining: attempts, validMs: codeValidityMs })
    }
    outcome = sent === 'undeliverable' ? 'undeliverable' : 'expired'
    setCurrentDetails(sent === 'undeliverable' ? `The mail server refused code ${send}.` : `Code ${send} was sent.`)
    const endsAt: number = lastSentAt + (sent === 'undeliverable' ? resendIntervalMs : codeValidityMs)
    await condition(() => sending || verified, Math.max(1, endsAt - Date.now()))
  }
  attempts = 0
  await condition(allHandlersFinished)
  if (verified) outcome = 'verified'
  setCurrentDetails(`Ended: ${outcome}.`)
  return outcome

  async function deliver(
    user: string,
    code: { runId: string; send: number },
  ): Promise<'sent' | 'undeliverable' | 'account_gone'> {
    try {
      return await sendVerificationCode({
        userId: user,
        code,
        attemptsRemaining: codeAttempts,
        validMs: codeValidityMs,
      })
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error
      return 'undeliverable'
    }
  }
}
