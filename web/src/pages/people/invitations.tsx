import { MailX, Send } from 'lucide-react'
import { type Member, api, keys, queryClient, unwrap, wordsOf } from '../../lib/api.ts'
import { formatDateTime } from '../../lib/format.ts'
import { roleName } from '../../lib/membership.ts'
import { say } from '../../lib/toasts.ts'
import { texts } from '../../texts/index.ts'
import { peopleMessages as t } from '../../texts/people.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { IconButton } from '../../ui/button.tsx'

/** Those who are invited and have not accepted. One that was made with the id of an account can only be revoked here. */
export function Invitations({ projectId, invitations }: { projectId: string; invitations: Member[] }) {
  const project = { project_id: projectId }
  const attempt = async (action: () => Promise<unknown>, done: string) => {
    try {
      await action()
      say(done)
    } catch (error) {
      say(wordsOf(error, texts.offline), 'danger')
    }
    await queryClient.invalidateQueries({ queryKey: keys.members(projectId) })
  }
  const resend = ({ email, role }: Member) =>
    attempt(
      () => unwrap(api.POST('/projects/{project_id}/members', { params: { path: project }, body: { email, role } })),
      t.resent(email),
    )
  const revoke = ({ member_id }: Member) => {
    const path = { params: { path: { ...project, member_id } } }
    return attempt(() => unwrap(api.DELETE('/projects/{project_id}/members/{member_id}', path)), t.revoked)
  }
  return (
    <section className="stack-small">
      <h2>{t.invitations}</h2>
      {invitations.length === 0 && <p className="muted">{t.noInvitations}</p>}
      {invitations.length > 0 && (
        <ul className="file-list" aria-label={t.invitations}>
          {invitations.map((invitation) => (
            <InvitationRow
              key={invitation.member_id}
              invitation={invitation}
              onResend={() => void resend(invitation)}
              onRevoke={() => void revoke(invitation)}
            />
          ))}
        </ul>
      )}
    </section>
  )
}

interface InvitationRowProps {
  invitation: Member
  onResend: () => void
  onRevoke: () => void
}

function InvitationRow({ invitation, onResend, onRevoke }: InvitationRowProps) {
  const { member_id: id, email, role, expires_at: end } = invitation
  const name = email || t.byAccount
  return (
    <li className="file-row file-row-wraps">
      <Avatar name={email} id={id} size={36} />
      <div className="grow">
        <div className="truncate">{name}</div>
        {end !== undefined && <div className="muted small">{t.expires(formatDateTime(end))}</div>}
      </div>
      <span className="badge">{roleName(role)}</span>
      {email !== '' && <IconButton label={t.resendOf(email)} icon={<Send size={15} />} onClick={onResend} />}
      <IconButton label={t.revokeOf(name)} icon={<MailX size={16} />} onClick={onRevoke} />
    </li>
  )
}
