import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { goOnAt } from '../lib/after-login.ts'
import { ApiError, type Schemas, api, forgetAnswers, keys, queryClient, unwrap, useMe } from '../lib/api.ts'
import { formatDateTime } from '../lib/format.ts'
import { roleName } from '../lib/membership.ts'
import { openProject } from '../lib/open-project.ts'
import { personName } from '../lib/person.ts'
import { logOut, switchTo, useSession } from '../lib/session.ts'
import { say } from '../lib/toasts.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { texts } from '../texts/index.ts'
import { peopleMessages } from '../texts/people.ts'
import { Avatar } from '../ui/avatar.tsx'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { Loading } from '../ui/states.tsx'
import { Welcome } from './account/welcome.tsx'

const t = peopleMessages.invitation
type Invitation = Schemas['Invitation']

/** What the link of an invitation opens: what is offered, to whom, and what to do if it cannot be accepted. */
export function InvitationPage() {
  const { token } = useSearch({ from: '/invitations' })
  const session = useSession()
  if (token !== undefined) return session === undefined ? <SignedOut token={token} /> : <SignedIn token={token} />
  return (
    <Welcome title={t.title}>
      <Notice tone="danger">{t.incomplete}</Notice>
      <Home label={t.home} />
    </Welcome>
  )
}

const placeOf = (token: string) => `/invitations?token=${encodeURIComponent(token)}`

function SignedOut({ token }: { token: string }) {
  const keep = () => goOnAt(placeOf(token))
  return (
    <Welcome title={t.title} text={t.signedOut}>
      <div className="stack-small">
        <Link to="/login" className="button button-primary button-wide" onClick={keep}>
          {texts.account.logIn}
        </Link>
        <Link to="/signup" className="button button-wide" onClick={keep}>
          {texts.account.signUp}
        </Link>
      </div>
    </Welcome>
  )
}

function SignedIn({ token }: { token: string }) {
  const me = useMe()
  const invitation = useQuery({
    queryKey: ['invitation', token],
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    queryFn: () =>
      unwrap(api.GET('/invitations/{invitation_token}', { params: { path: { invitation_token: token } } })),
  })
  const account = me.data ? (me.data.email ?? personName(me.data)) : '…'
  const status = invitation.error instanceof ApiError ? invitation.error.status : undefined
  if (status === 404)
    return (
      <Welcome title={t.goneTitle} text={t.goneText}>
        <Home label={t.home} />
      </Welcome>
    )
  if (status === 403)
    return (
      <Welcome title={t.otherTitle} text={t.otherText(account)}>
        <OtherAccount token={token} />
        <Home label={t.home} />
      </Welcome>
    )
  if (invitation.data?.status === 'member') return <MemberAlready invitation={invitation.data} />
  return (
    <Welcome title={t.title}>
      <Loading query={invitation} lines={3} />
      {invitation.data && <Offer token={token} invitation={invitation.data} account={account} />}
    </Welcome>
  )
}

function Offer({ token, invitation, account }: { token: string; invitation: Invitation; account: string }) {
  const { name, owner, role, expires_at: end } = invitation
  const navigate = useNavigate()
  const accepting = useSubmit(async () => {
    const { jwt_token: next } = await unwrap(
      api.POST('/invitations/{invitation_token}/accept', { params: { path: { invitation_token: token } } }),
    )
    // A list without the project would say that the access to it has ended.
    queryClient.removeQueries({ queryKey: keys.projects })
    switchTo(next)
    void forgetAnswers()
    say(t.joined(name))
    await navigate({ to: '/console/chat', replace: true })
  })
  return (
    <form className="form" onSubmit={accepting.onSubmit}>
      {accepting.problem && <Notice tone="danger">{accepting.problem}</Notice>}
      <div className="card stack-small">
        <div className="row">
          <Avatar name={personName(owner)} id={owner.user_id} size={40} />
          <p className="grow">{t.offer(personName(owner), name)}</p>
        </div>
        <p>
          {t.yourRole(roleName(role))} <span className="muted">{peopleMessages.can[role]}</span>
        </p>
        {end !== undefined && <p className="muted small">{t.expires(formatDateTime(end))}</p>}
      </div>
      <p className="muted small">{t.as(account)}</p>
      <Button type="submit" look="primary" wide busy={accepting.isBusy}>
        {t.accept}
      </Button>
      <OtherAccount token={token} />
      <Home label={t.later} />
    </form>
  )
}

function MemberAlready({ invitation: { project_id: projectId, name, role } }: { invitation: Invitation }) {
  const navigate = useNavigate()
  const opening = useSubmit(async () => {
    await openProject(projectId, name)
    await navigate({ to: '/console/chat', replace: true })
  })
  return (
    <Welcome title={t.memberTitle} text={t.memberText(name, roleName(role))}>
      <form className="form" onSubmit={opening.onSubmit}>
        {opening.problem && <Notice tone="danger">{opening.problem}</Notice>}
        <Button type="submit" look="primary" wide busy={opening.isBusy}>
          {t.open}
        </Button>
      </form>
    </Welcome>
  )
}

/** Logs out, and comes back after the next login. */
function OtherAccount({ token }: { token: string }) {
  const navigate = useNavigate()
  const change = () => {
    logOut()
    queryClient.clear()
    goOnAt(placeOf(token))
    void navigate({ to: '/login' })
  }
  return (
    <Button wide onClick={change}>
      {t.otherAccount}
    </Button>
  )
}

function Home({ label }: { label: string }) {
  return (
    <Link to="/" className="small">
      {label}
    </Link>
  )
}
