import { KeyRound, UserRoundX } from 'lucide-react'
import { useState } from 'react'
import { type Member, type Project, api, keys, queryClient, unwrap, wordsOf } from '../../lib/api.ts'
import { formatMonth } from '../../lib/format.ts'
import { memberName } from '../../lib/group-name.ts'
import { type Role, roleName } from '../../lib/membership.ts'
import { useSession } from '../../lib/session.ts'
import { say } from '../../lib/toasts.ts'
import { texts } from '../../texts/index.ts'
import { peopleMessages as t } from '../../texts/people.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { IconButton } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { GroupFace } from '../../ui/group-face.tsx'
import { pathOf, refresh } from './members.ts'
import { RoleOptions, roleOf } from './role-options.tsx'
import { type Choice, ThreadsChoice } from './threads-choice.tsx'

interface MemberListProps {
  project: Project
  members: Member[]
  /** Whether the user may change roles and remove members. */
  canManage: boolean
}

/**
 * Those who use the project, people and groups. What cannot be done is not offered: the holder keeps the role and
 * cannot be removed.
 */
export function MemberList({ project: { project_id: projectId, owner }, members, canManage }: MemberListProps) {
  const userId = useSession()?.userId
  const [removed, setRemoved] = useState<Member>()
  const [given, setGiven] = useState<Member>()
  const [givenUp, setGivenUp] = useState<Role>()
  const [regrouped, setRegrouped] = useState<{ member: Member; role: Role }>()
  const own = members.find(({ user_id: id }) => id === userId)
  const setRole = async (member: Member, role: Role) => {
    const path = pathOf(projectId, member)
    await unwrap(api.PATCH('/projects/{project_id}/members/{member_id}', { ...path, body: { role } }))
    await refresh(projectId)
    say(t.roleChanged(memberName(member), roleName(role)))
  }
  const change = (member: Member, role: Role) => {
    if (member === own && role !== 'owner') return setGivenUp(role)
    if (member.group && member.role === 'owner' && own?.role !== 'owner') return setRegrouped({ member, role })
    setRole(member, role).catch((error: unknown) => {
      say(wordsOf(error, texts.offline), 'danger')
      void refresh(projectId)
    })
  }
  return (
    <section className="stack-small">
      <h2>{t.members}</h2>
      <ul className="file-list" aria-label={t.members}>
        {members.map((member) => (
          <MemberRow
            key={member.member_id}
            member={member}
            isSelf={member === own}
            isHolder={member.user_id === owner.user_id}
            canManage={canManage}
            onRole={(role) => change(member, role)}
            onRemove={() => setRemoved(member)}
            onGive={canManage && owner.user_id === userId ? () => setGiven(member) : undefined}
          />
        ))}
      </ul>
      {removed && <RemoveDialog projectId={projectId} member={removed} onClose={() => setRemoved(undefined)} />}
      {given && (
        <ConfirmDialog
          title={t.giveTitle(memberName(given))}
          text={t.giveText(memberName(given))}
          action={t.giveAction}
          onConfirm={async () => {
            const path = { params: { path: { project_id: projectId } } }
            await unwrap(api.PUT('/projects/{project_id}/holder', { ...path, body: { member_id: given.member_id } }))
            await refresh(projectId)
          }}
          onClose={() => setGiven(undefined)}
          onDone={() => say(t.given(memberName(given)))}
        />
      )}
      {regrouped && (
        <ConfirmDialog
          title={t.groups.roleTitle(memberName(regrouped.member))}
          text={t.groups.roleText(roleName(regrouped.role))}
          action={t.groups.roleAction}
          onConfirm={() => setRole(regrouped.member, regrouped.role)}
          onClose={() => setRegrouped(undefined)}
        />
      )}
      {givenUp && own && (
        <ConfirmDialog
          title={t.ownRoleTitle}
          text={t.ownRoleText(roleName(givenUp))}
          action={t.ownRoleAction}
          onConfirm={() => setRole(own, givenUp)}
          onClose={() => setGivenUp(undefined)}
        />
      )}
    </section>
  )
}

interface MemberRowProps {
  member: Member
  isSelf: boolean
  isHolder: boolean
  canManage: boolean
  onRole: (role: Role) => void
  onRemove: () => void
  /** Undefined for those who do not hold the project themselves. */
  onGive: (() => void) | undefined
}

function MemberRow({ member, isSelf, isHolder, canManage, onRole, onRemove, onGive }: MemberRowProps) {
  const { member_id: id, user_id: user = id, group, email, role, created_at: since } = member
  const name = memberName(member)
  const facts = [group && t.groups.isGroup, name === email ? '' : email, t.since(formatMonth(since))]
  return (
    <li className="file-row file-row-wraps">
      {group ? <GroupFace id={group.group_id} size={36} /> : <Avatar name={name} id={user} size={36} />}
      <div className="grow">
        <div className="truncate">
          {name} {isSelf && <span className="muted">({t.you})</span>}
        </div>
        <div className="muted small">{facts.filter(Boolean).join(' · ')}</div>
        {isHolder && <div className="muted small">{t.holder}</div>}
      </div>
      {canManage && !isHolder ? (
        <select
          className="input person-role"
          aria-label={t.roleOf(name)}
          value={role}
          onChange={(event) => onRole(roleOf(event.target.value))}
        >
          <RoleOptions />
        </select>
      ) : (
        <span className="badge">{roleName(role)}</span>
      )}
      {onGive && role === 'owner' && !isHolder && !group && (
        <IconButton label={t.give(name)} icon={<KeyRound size={15} />} onClick={onGive} />
      )}
      {canManage && !isHolder && !isSelf && (
        <IconButton label={t.remove(name)} icon={<UserRoundX size={16} />} onClick={onRemove} />
      )}
    </li>
  )
}

/** Removes a member, after asking what becomes of the private chats; those who go with a group keep theirs. */
function RemoveDialog({ projectId, member, onClose }: { projectId: string; member: Member; onClose: () => void }) {
  const [choice, setChoice] = useState<Choice>('keep')
  const name = memberName(member)
  const remove = async () => {
    const { path } = pathOf(projectId, member).params
    const query = member.group ? {} : { private_threads: choice }
    await unwrap(api.DELETE('/projects/{project_id}/members/{member_id}', { params: { path, query } }))
    await refresh(projectId)
    await queryClient.invalidateQueries({ queryKey: keys.threads })
  }
  return (
    <ConfirmDialog
      title={t.removeTitle(name)}
      text={
        member.group ? (
          <p>{t.groups.removeText(name)}</p>
        ) : (
          <div className="stack-small">
            <p>{t.removeText(name)}</p>
            <ThreadsChoice
              value={choice}
              words={{ keep: t.threadsOf.keep(name), hand_over: t.threadsOf.handOver }}
              onValue={setChoice}
            />
          </div>
        )
      }
      action={t.removeAction}
      onConfirm={remove}
      onClose={onClose}
      onDone={() => say(t.removed(name))}
    />
  )
}
