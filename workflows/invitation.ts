import { isCancellation, proxyActivities, setCurrentDetails } from '@temporalio/workflow'
import type { createInvitationActivities } from '../activities/accounts/invitation.ts'
import type { invitationContract } from '../domain/contracts/invitation.ts'
import type { WorkflowOf } from '../domain/contracts/workflow-contract.ts'
import { mailPolicy } from './account-policies.ts'

const { sendInvitation } = proxyActivities<ReturnType<typeof createInvitationActivities>>(mailPolicy)

/** Mails the link of an invitation. Whether it is still valid is decided when it is used. */
export const invitationWorkflow: WorkflowOf<typeof invitationContract> = async (invitation) => {
  setCurrentDetails('The invitation is being sent.')
  try {
    const outcome = await sendInvitation(invitation)
    setCurrentDetails(`Ended: ${outcome}.`)
    return outcome
  } catch (error) {
    if (isCancellation(error)) throw error
    setCurrentDetails('Ended: the mail server did not accept it.')
    return 'undeliverable'
  }
}
