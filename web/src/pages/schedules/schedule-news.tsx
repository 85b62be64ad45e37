import { useQuery } from '@tanstack/react-query'
import { useNavigate, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { type Schemas, api, keys, unwrap } from '../../lib/api.ts'
import { keepRunsSeen, newsNow, runsSeen, setNews, useNews } from '../../lib/schedule-news.ts'
import { type News, newsOf } from '../../lib/schedule-outcomes.ts'
import { getSession } from '../../lib/session.ts'
import { say } from '../../lib/toasts.ts'
import { scheduleMessages as t } from '../../texts/schedules.ts'
import { nameOf } from './name-of.ts'

const everyMs = 60_000
const shownMs = 12_000
/** Of one schedule, at one look. */
const mostRuns = 10
type Schedule = Schemas['Schedule']

/** Looks each minute whether schedules of the user have results that he has not seen, says so, and shows how many. */
export default function ScheduleNews() {
  const navigate = useNavigate()
  const news = useNews()
  const isLooking = useRef(false)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const schedules = useQuery({
    queryKey: [...keys.schedules, 'news'],
    queryFn: () => unwrap(api.GET('/schedules/', { params: { query: { limit: 1000 } } })),
    refetchInterval: everyMs,
  })
  useEffect(() => {
    if (schedules.data === undefined || isLooking.current) return
    isLooking.current = true
    const own = schedules.data.schedules.filter(
      ({ created_by: maker }) => maker === null || maker.user_id === getSession()?.userId,
    )
    void look(own)
      .then((found) => {
        const [first] = found
        if (first === undefined) return
        setNews([...found, ...newsNow()])
        const name = nameOf(own.find(({ schedule_id: id }) => id === first.schedule_id))
        const { thread_id: threadId } = first
        say(found.length === 1 ? t.newsOf[first.outcome](name) : t.haveAnswered(found.length), 'plain', {
          label: t.show,
          ms: shownMs,
          run: () =>
            void (found.length === 1 && threadId !== undefined
              ? navigate({ to: '/console/chat/$threadId', params: { threadId } })
              : navigate({ to: '/console/schedules' })),
        })
      })
      // The next look is in a minute.
      .catch(() => undefined)
      .finally(() => {
        isLooking.current = false
      })
  }, [schedules.data, schedules.dataUpdatedAt, navigate])
  // Whoever opens the chat has seen its results.
  useEffect(() => {
    const rest = news.filter(({ thread_id: id }) => id === undefined || path !== `/console/chat/${id}`)
    if (rest.length < news.length) setNews(rest)
  }, [news, path])
  return (
    news.length > 0 && (
      <span className="badge badge-accent">
        {news.length}
        <span className="visually-hidden"> {t.unseen}</span>
      </span>
    )
  )
}

/** The results since the last look, newest first. What is still under way is looked at again. */
async function look(schedules: Schedule[]): Promise<News[]> {
  const before = runsSeen()
  const seen = Object.fromEntries(schedules.map(({ schedule_id: id, runs_made: made }) => [id, made]))
  const all: News[] = []
  // What was there before the first look is not new.
  if (before !== undefined)
    for (const { schedule_id: id, runs_made: made } of schedules) {
      const fresh = Math.min(made - (before[id] ?? 0), mostRuns)
      if (fresh <= 0) continue
      const params = { path: { schedule_id: id }, query: { limit: 2 * mostRuns } }
      const { found, open } = newsOf((await unwrap(api.GET('/schedules/{schedule_id}/runs', { params }))).runs, fresh)
      all.push(...found)
      seen[id] = made - open
    }
  keepRunsSeen(seen)
  return all.toSorted((a, b) => b.finished_at.localeCompare(a.finished_at))
}
