import '../../styles/people.css'
import { Link, useParams } from '@tanstack/react-router'
import { ArrowLeft, UsersRound } from 'lucide-react'
import { useState } from 'react'
import { type Project, api, keys, queryClient, unwrap, useMembers, useProjects } from '../../lib/api.ts'
import { type Role, isEnough, roleName, roles } from '../../lib/membership.ts'
import { personName } from '../../lib/person.ts'
import { useSession } from '../../lib/session.ts'
import { say } from '../../lib/toasts.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { useTitle } from '../../lib/use-title.ts'
import { texts } from '../../texts/index.ts'
import { peopleMessages as t } from '../../texts/people.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Empty, Loading } from '../../ui/states.tsx'
import { GroupForm } from './group-form.tsx'
import { Invitations } from './invitations.tsx'
import { LeaveProject } from './leave-project.tsx'
import { MemberList } from './member-list.tsx'
import { RoleOptions, roleOf } from './role-options.tsx'

/** Who uses a project, who is invited to, and what each may do. */
export function PeoplePage() {
  const { projectId } = useParams({ from: '/console/projects/$projectId/people' })
  const projects = useProjects()
  const project = projects.data?.find(({ project_id: id }) => id === projectId)
  if (project !== undefined) return <People key={projectId} project={project} />
  return (
    <div className="page">
      {projects.isSuccess && (
        <Empty
          icon={<UsersRound size={32} aria-hidden="true" />}
          title={texts.notFound.title}
          text={texts.roles.ended}
          isPage
        >
          <Link to="/console/projects" className="button button-primary">
            {t.back}
          </Link>
        </Empty>
      )}
      <Loading query={projects} lines={6} />
    </div>
  )
}

function People({ project }: { project: Project }) {
  const { project_id: projectId, name, role, owner } = project
  const members = useMembers(projectId)
  const userId = useSession()?.userId
  const title = t.title(name)
  useTitle(title)
  const isOwner = isEnough(role, 'owner')
  const isHolder = owner.user_id === userId
  const active = members.data?.filter(({ status }) => status === 'active') ?? []
  const invited = members.data?.filter(({ status }) => status === 'invited') ?? []
  return (
    <div className="page">
      <header>
        <Link to="/console/projects" className="row small">
          <ArrowLeft size={15} aria-hidden="true" />
          {t.back}
        </Link>
        <h1>{title}</h1>
        <p className="muted">
          {isHolder ? t.yours : t.whose(personName(owner), roleName(role))} {t.text} {!isOwner && t.onlyOwners}
        </p>
      </header>
      {isOwner && <InviteForm projectId={projectId} />}
      {isOwner && members.data && <GroupForm projectId={projectId} members={members.data} />}
      <Loading query={members} lines={3} height={52} />
      {active.length > 0 && <MemberList project={project} members={active} canManage={isOwner} />}
      {members.data && isOwner && <Invitations projectId={projectId} invitations={invited} />}
      <RoleHelp />
      <LeaveProject
        project={project}
        isHolder={isHolder}
        isThroughGroup={members.isSuccess && active.every(({ user_id: id }) => id !== userId)}
        memberId={active.find(({ user_id: id }) => id === userId)?.member_id}
      />
    </div>
  )
}

/** What each role may do, in words. */
function RoleHelp() {
  return (
    <section className="card stack-small">
      <h2>{t.roles}</h2>
      <p className="muted small">{t.rolesText}</p>
      <dl className="role-help">
        {roles.map((role) => (
          <div key={role}>
            <dt>{roleName(role)}</dt>
            <dd>{t.can[role]}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

/** Invites somebody by mail. */
function InviteForm({ projectId }: { projectId: string }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  const form = useSubmit(async () => {
    const address = email.trim()
    const path = { params: { path: { project_id: projectId } } }
    await unwrap(api.POST('/projects/{project_id}/members', { ...path, body: { email: address, role } }))
    setEmail('')
    say(t.sent(address))
    await queryClient.invalidateQueries({ queryKey: keys.members(projectId) })
  })
  return (
    <form className="card form" onSubmit={form.onSubmit}>
      <div>
        <h2>{t.invite}</h2>
        <p className="muted small">{t.inviteText}</p>
      </div>
      <div className="form-row">
        <TextField
          label={texts.account.email}
          type="email"
          autoComplete="off"
          required
          maxLength={254}
          error={form.fields['email']}
          value={email}
          onValue={setEmail}
        />
        <SelectField label={t.role} help={t.can[role]} value={role} onValue={(value) => setRole(roleOf(value))}>
          <RoleOptions />
        </SelectField>
      </div>
      {form.problem && <Notice tone="danger">{form.problem}</Notice>}
      <div>
        <Button type="submit" look="primary" busy={form.isBusy}>
          {t.send}
        </Button>
      </div>
    </form>
  )
}
