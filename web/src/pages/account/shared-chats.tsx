import { useQuery } from '@tanstack/react-query'
import { type Schemas, api, keys, queryClient, unwrap } from '../../lib/api.ts'
import { formatAgo } from '../../lib/format.ts'
import { useMembership } from '../../lib/membership.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Problem } from '../../ui/states.tsx'

const t = texts.chat.share

/** The chats of the project that everybody with their link can read. */
export function SharedChats() {
  const shares = useQuery({
    queryKey: keys.shares,
    staleTime: 0,
    queryFn: () => unwrap(api.GET('/shared/', { params: { query: { limit: 1000 } } })),
  })
  return (
    <section className="card stack-small">
      <h2>{t.listTitle}</h2>
      <p className="muted">{shares.data?.length === 0 ? t.listEmpty : t.listText}</p>
      {shares.isError && <Problem error={shares.error} onRetry={() => void shares.refetch()} />}
      {shares.data?.map((share) => (
        <SharedChat key={share.thread_id} share={share} />
      ))}
    </section>
  )
}

function SharedChat({ share: { thread_id: tid, name, updated_at, views } }: { share: Schemas['ThreadShare'] }) {
  const canChat = useMembership().may('member')
  const revoking = useSubmit(async () => {
    await unwrap(api.DELETE('/threads/{tid}/share', { params: { path: { tid } } }))
    await Promise.all([keys.share(tid), keys.shares].map((queryKey) => queryClient.invalidateQueries({ queryKey })))
  })
  return (
    <form className="spread" onSubmit={revoking.onSubmit}>
      <div className="grow">
        <p className="truncate">{name || texts.chat.untitled}</p>
        <p className="muted small">{t.state(formatAgo(updated_at), views)}</p>
        {revoking.problem && <Notice tone="danger">{revoking.problem}</Notice>}
      </div>
      {canChat && (
        <Button type="submit" busy={revoking.isBusy}>
          {t.revoke}
        </Button>
      )}
    </form>
  )
}
