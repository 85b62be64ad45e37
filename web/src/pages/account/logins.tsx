import { useQuery } from '@tanstack/react-query'
import { api, queryClient, unwrap } from '../../lib/api.ts'
import { formatAgo } from '../../lib/format.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Problem } from '../../ui/states.tsx'

const t = texts.programLogins
export const loginsKey = ['program-logins']

/** The programs that are logged in, each of which can be logged out. */
export function ProgramLogins() {
  const logins = useQuery({ queryKey: loginsKey, queryFn: () => unwrap(api.GET('/user/logins')) })
  return (
    <section className="card stack-small">
      <h2>{t.title}</h2>
      <p className="muted">{t.text}</p>
      {logins.isError && <Problem error={logins.error} onRetry={() => void logins.refetch()} />}
      {logins.data?.length === 0 && <p>{t.none}</p>}
      {logins.data?.map((login) => (
        <ProgramLogin key={login.login_id} login={login} />
      ))}
    </section>
  )
}

type Login = { login_id: string; name: string; created_at: string; last_used_at: string | null }

function ProgramLogin({ login: { login_id, name, created_at, last_used_at } }: { login: Login }) {
  const ending = useSubmit(async () => {
    await unwrap(api.DELETE('/user/logins/{login_id}', { params: { path: { login_id } } }))
    await queryClient.invalidateQueries({ queryKey: loginsKey })
  })
  return (
    <form className="spread" onSubmit={ending.onSubmit}>
      <div className="grow">
        <p className="truncate">{name}</p>
        <p className="muted small">{t.used(formatAgo(last_used_at ?? created_at))}</p>
        {ending.problem && <Notice tone="danger">{ending.problem}</Notice>}
      </div>
      <Button type="submit" busy={ending.isBusy}>
        {t.end}
      </Button>
    </form>
  )
}
