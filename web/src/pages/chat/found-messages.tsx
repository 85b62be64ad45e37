import { Link } from '@tanstack/react-router'
import { useHiddenThreads } from '../../lib/delayed-deletion.ts'
import { type FoundMessage, useFoundMessages } from '../../lib/found-messages.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Problem } from '../../ui/states.tsx'

const t = texts.nav

/** Chats in whose messages the words are, each with the place. */
export function FoundMessages({ words }: { words: string }) {
  const { pages, found, isOn } = useFoundMessages(words)
  const hidden = useHiddenThreads()
  const shown = found.filter(({ thread }) => !hidden.has(thread.thread_id))
  if (!isOn) return undefined
  return (
    <div>
      <h3 className="thread-period">{t.inMessages}</h3>
      {pages.isError && <Problem error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.data && shown.length === 0 && !pages.hasNextPage && (
        <p className="muted small thread-none">{t.noMessages}</p>
      )}
      <ul className="thread-list">
        {shown.map((each) => (
          <li key={each.thread.thread_id} className="thread-item found-message">
            <Link
              to="/console/chat/$threadId"
              params={{ threadId: each.thread.thread_id }}
              search={{ message: each.message_id }}
            >
              <span className="truncate block">{each.thread.name || texts.chat.untitled}</span>
              <span className="muted small block">
                <Snippet found={each} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {pages.hasNextPage && (
        <Button size="small" wide busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {t.olderMessages}
        </Button>
      )}
    </div>
  )
}

function Snippet({ found: { snippet, marks } }: { found: FoundMessage }) {
  const pieces = marks.flatMap(({ start, end }, index) => [
    snippet.slice(marks[index - 1]?.end ?? 0, start),
    <mark key={start}>{snippet.slice(start, end)}</mark>,
  ])
  return (
    <>
      … {pieces}
      {snippet.slice(marks.at(-1)?.end ?? 0)} …
    </>
  )
}
