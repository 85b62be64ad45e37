import { useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type Message, type Run, api, unwrap } from './api.ts'

const takenQuestion = /^(.{36})-question$/

/** The runs of answers that were taken from beside the chat: they are not among its own. */
export function useTakenRuns(stored: Message[]): Run[] {
  // A long chat is drawn anew with each word of an answer.
  const ids = useMemo(() => stored.flatMap(({ data: { id } }) => takenQuestion.exec(id)?.[1] ?? []), [stored])
  const found = useQueries({
    queries: ids.map((id) => ({
      queryKey: ['run', id],
      staleTime: Infinity,
      retry: false,
      queryFn: () => unwrap(api.GET('/runs/{run_id}', { params: { path: { run_id: id } } })),
    })),
  })
  return found.flatMap(({ data }) => data ?? [])
}
