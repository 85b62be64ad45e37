import { useInfiniteQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { MessageCircleOff } from 'lucide-react'
import '../styles/chat.css'
import '../styles/print.css'
import '../styles/transcript.css'
import { ApiError, api, unwrap } from '../lib/api.ts'
import { formatDate } from '../lib/format.ts'
import { productName } from '../lib/product.ts'
import { useTitle } from '../lib/use-title.ts'
import { texts } from '../texts/index.ts'
import { Button } from '../ui/button.tsx'
import { Empty, Loading } from '../ui/states.tsx'
import { Transcript } from './chat/transcript.tsx'

const t = texts.chat

/** A chat that somebody has shared, for everybody who has the link. */
export function SharedChat() {
  const { token } = useParams({ from: '/s/$token' })
  const pages = useInfiniteQuery({
    queryKey: ['shared', token],
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: before }) =>
      unwrap(
        api.GET('/shared/{share_token}', {
          params: { path: { share_token: token }, query: { ...(before !== undefined && { before }) } },
        }),
      ),
    getNextPageParam: ({ before }) => before ?? undefined,
  })
  const newest = pages.data?.pages[0]
  useTitle(newest?.name || t.untitled)
  if (pages.error instanceof ApiError && pages.error.status === 404)
    return (
      <main className="page">
        <Empty
          icon={<MessageCircleOff size={32} aria-hidden="true" />}
          title={t.share.goneTitle}
          text={t.share.goneText}
          isPage
        />
      </main>
    )
  const messages = (pages.data?.pages ?? []).toReversed().flatMap((page) => page.messages)
  return (
    <main className="transcript-page">
      <header>
        <h1>{newest ? newest.name || t.untitled : texts.loading}</h1>
        {newest && <p className="muted small">{t.share.shownWith(productName, formatDate(newest.shared_at))}</p>}
      </header>
      <Loading query={pages} lines={6} />
      {pages.hasNextPage && (
        <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {texts.nav.olderMessages}
        </Button>
      )}
      <Transcript
        messages={messages.map(({ id, role, content, files }) => ({
          id,
          isOwn: role === 'user',
          text: content,
          files,
        }))}
      />
    </main>
  )
}
