import type { InvitationInput } from '../../domain/contracts/invitation.ts'
import type { ProjectRecord } from '../../domain/records/project.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { DerivedSecrets } from '../../services/accounts/derived-secrets.ts'
import { invitationMail } from '../../services/accounts/mails.ts'
import type { Collections } from '../../services/collections.ts'
import type { Mailer } from '../../services/mailer.ts'
import { translateErrors } from '../translate-errors.ts'

interface InvitationActivityDeps {
  collections: Pick<Collections, 'projects' | 'users'>
  mailer: Pick<Mailer, 'send'>
  secrets: Pick<DerivedSecrets, 'invitationToken'>
  frontendUrl: string
}

/** The side effect of the `invitation` workflow. */
export function createInvitationActivities({ collections, mailer, secrets, frontendUrl }: InvitationActivityDeps) {
  const { projects, users } = collections

  return {
    /** Derives the link and mails it; a retry sends the same link again. */
    sendInvitation: translateErrors(
      async ({ projectId, memberId, send }: InvitationInput): Promise<'sent' | 'gone'> => {
        const project = await projects.findOne({ _id: projectId, deleting: { $ne: true } }).lean<ProjectRecord>()
        const member = project?.members?.find(({ id }) => id === memberId)
        if (project === null || member?.invitation?.send !== send) return 'gone'
        const { for_user: userId } = member.invitation
        const whose = userId === undefined ? { email: member.email } : { _id: userId }
        const user = await users
          .findOne(whose, { email: 1, language: 1 })
          .lean<Pick<UserRecord, 'email' | 'language'>>()
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
