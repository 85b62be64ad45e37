import { useEffect } from 'react'
import { type Thread, useThreads } from './api.ts'

/** Further chats are loaded until so many are found. */
const enoughFound = 30

/**
 * The chats of the project whose names contain these words, newest first; with a tag, only those that have it. Older
 * pages are loaded for a search that has found few.
 */
export function useFoundThreads(words: string, tag?: string, archived = false) {
  const wanted = words.trim().toLowerCase()
  const pages = useThreads(tag, archived, wanted !== '')
  const known = distinct(pages.data?.pages.flatMap(({ threads }) => threads) ?? [])
  const found = known.filter(({ name }) => name.toLowerCase().includes(wanted))
  const { hasNextPage, isFetching, fetchNextPage } = pages
  const searchesOn = wanted !== '' && hasNextPage && !pages.isError && found.length < enoughFound
  useEffect(() => {
    if (searchesOn && !isFetching) void fetchNextPage()
  }, [searchesOn, isFetching, fetchNextPage])
  return { pages, known, found, searchesOn }
}

/** A thread that got a message between two pages is in both. */
function distinct(threads: Thread[]): Thread[] {
  return [...new Map(threads.map((thread) => [thread.thread_id, thread])).values()]
}
