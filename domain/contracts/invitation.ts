import { type WorkflowContract, workflowType } from './workflow-contract.ts'

/** The workflow that mails the link of an invitation. */
export const invitationContract = {
  type: workflowType('invitationWorkflow'),
  queue: 'accounts',
  id: ({ memberId, send }) => `invitation/${memberId}/${send}`,
  input: ({ projectId, memberId, send }) => ({ projectId, memberId, send }),
  summary: ({ projectId }) => `Invitation into project ${projectId}`,
  details: () => 'Mails a link that works once within seven days; retries for a day while the mail server is away.',
  attributes: ({ userId, projectId }) => ({ UserId: userId, ProjectId: projectId }),
  startsOnce: true,
} satisfies WorkflowContract<{
  key: { memberId: string; send: number }
  start: InvitationInput & { userId: string }
  input: InvitationInput
  result: InvitationOutcome
}>

/** Ids only: neither the address nor the link. */
export interface InvitationInput {
  projectId: string
  memberId: string
  /** Number of the mail. */
  send: number
}

/** `gone`: it was revoked, accepted or sent anew before it was mailed. */
type InvitationOutcome = 'sent' | 'gone' | 'undeliverable'
