import {
  CancellationScope,
  allHandlersFinished,
  condition,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'
import type { createPasswordResetActivities } from '../activities/accounts/password-reset.ts'
import {
  type PasswordResetOutcome,
  type RedeemResetResult,
  passwordResetContract,
  resetValidityMs,
} from '../domain/contracts/password-reset.ts'
import type { WorkflowOf } from '../domain/contracts/workflow-contract.ts'
import { accountWritePolicy, mailPolicy } from './account-policies.ts'

const { signals, updates } = passwordResetContract

type Activities = ReturnType<typeof createPasswordResetActivities>
const { sendPasswordReset } = proxyActivities<Pick<Activities, 'sendPasswordReset'>>(mailPolicy)
const { applyNewPassword } = proxyActivities<Pick<Activities, 'applyNewPassword'>>(accountWritePolicy)

type Delivery = 'sent' | 'undeliverable' | 'account_gone' | 'superseded'

/**
 * One active token per user: each request makes the next token and invalidates the previous one, also while that is
 * still being mailed. A token is valid for an hour after the mail server has accepted it, and works once, because
 * this workflow handles one redemption at a time.
 */
export const passwordResetWorkflow: WorkflowOf<typeof passwordResetContract> = async ({ userId }) => {
  const { runId } = workflowInfo()
  const idOf = (token: number) => `${runId}.${token}`
  let newest = 0
  let active: number | undefined
  let outcome: PasswordResetOutcome | undefined

  setHandler(signals.request, () => {
    newest += 1
    active = newest
    outcome = undefined
  })

  setHandler(updates.redeem, async ({ tokenId, redemptionId }): Promise<RedeemResetResult> => {
    if (active === undefined || tokenId !== idOf(active)) return { outcome: 'invalid' }
    active = undefined
    outcome = 'redeemed'
    await applyNewPassword({ userId, redemptionId })
    return { outcome: 'changed' }
  })

  await condition(() => newest > 0)
  for (let token = 0; token !== newest;) {
    token = newest
    setCurrentDetails(`Token ${token} is being sent.`)
    const delivery = await deliver(token)
    if (delivery === 'superseded') continue
    if (delivery === 'sent') {
      setCurrentDetails(`Token ${token} was sent.`)
      await condition(() => newest !== token || outcome !== undefined, resetValidityMs)
    }
    if (newest === token && outcome === undefined) {
      active = undefined
      outcome = delivery === 'sent' ? 'expired' : delivery
    }
    await condition(allHandlersFinished)
  }
  setCurrentDetails(`Ended: ${outcome}.`)
  return outcome ?? 'expired'

  /** A newer request cancels the delivery, because the mail would contain an invalid link. */
  async function deliver(token: number): Promise<Delivery> {
    const scope = new CancellationScope()
    void condition(() => newest !== token).then(
      () => scope.cancel(),
      () => undefined,
    )
    try {
      return await scope.run(() => sendPasswordReset({ userId, tokenId: idOf(token) }))
    } catch (error) {
      if (newest !== token) return 'superseded'
      if (isCancellation(error)) throw error
      return 'undeliverable'
    }
  }
}
