import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { type Schemas, api, keys, unwrap } from '../../lib/api.ts'
import { useHiddenThreads } from '../../lib/delayed-deletion.ts'
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

type FoundMessage = Schemas['FoundMessage']

/** Fewer letters begin too many words. */
const fewestLetters = 3
const pauseMs = 250

/** Messages of the project's chats that have these words, a moment after they were written. */
function useFoundMessages(words: string) {
  const [query, setQuery] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setQuery(words.trim().length < fewestLetters ? '' : words.trimStart()), pauseMs)
    return () => clearTimeout(timer)
  }, [words])
  const pages = useInfiniteQuery({
    queryKey: keys.foundMessages(query),
    enabled: query !== '',
    placeholderData: keepPreviousData,
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam: before }) =>
      unwrap(api.GET('/search/messages', { params: { query: { q: query, ...(before !== undefined && { before }) } } })),
    getNextPageParam: ({ next }) => next ?? undefined,
  })
  const found = query === '' ? [] : (pages.data?.pages.flatMap((page) => page.found) ?? [])
  // A chat may be on several pages, each time with an older message.
  const first = new Map<string, FoundMessage>()
  for (const each of found) if (!first.has(each.thread.thread_id)) first.set(each.thread.thread_id, each)
  return { pages, found: [...first.values()], isOn: query !== '' }
}
