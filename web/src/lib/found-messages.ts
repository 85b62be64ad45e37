import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { type Schemas, api, keys, unwrap } from './api.ts'

export type FoundMessage = Schemas['FoundMessage']

/** Fewer letters begin too many words. */
const fewestLetters = 3
const pauseMs = 250

/** Messages of the project's chats that have these words, a moment after they were written. */
export function useFoundMessages(words: string) {
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
