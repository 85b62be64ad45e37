import type { InvitationInput } from '../../domain/contracts/invitation.ts'
import type { DerivedSecrets } from '../../services/accounts/derived-secrets.ts'
import { invitationMail } from '../../services/accounts/mails.ts'
import type { Collections } from '../../services/collections.ts'
import type { Mailer } from '../../services/mailer.ts'
import { sharedProjectStore } from '../../services/projects/store.ts'
import { userStore } from '../../services/stores/users.ts'
import { translateErrors } from '../durable.ts'

interface InvitationActivityDeps {
  collections: Pick<Collections, 'projects' | 'users'>
  mailer: Pick<Mailer, 'send'>
  secrets: Pick<DerivedSecrets, 'invitationToken'>
  frontendUrl: string
}

/** The side effect of the `invitation` workflow. */
export function createInvitationActivities({ collections, mailer, secrets, frontendUrl }: InvitationActivityDeps) {
  return {
    /** Derives the link and mails it; a retry sends the same link again. */
    sendInvitation: translateErrors(
      async ({ projectId, memberId, send }: InvitationInput): Promise<'sent' | 'gone'> => {
        const project = await sharedProjectStore(collections).findOfAny(projectId)
        const member = project?.members?.find(({ id }) => id === memberId)
        if (project === null || member?.invitation?.send !== send) return 'gone'
        const { for_user: userId } = member.invitation
        const whose = userId === undefined ? { email: member.email } : { _id: userId }
        const user = await userStore(collections).findReceiverOfAny(whose)
        const to = userId === undefined ? member.email : user?.email
        if (to === undefined) return 'gone'
        const link = `${frontendUrl}/invitations?token=${secrets.invitationToken({ memberId, send })}`
        const messageId = `invitation.${memberId}.${send}`
        await mailer.send(invitationMail({ to, language: user?.language, link, messageId }))
        return 'sent'
      },
    ),
  }
}
