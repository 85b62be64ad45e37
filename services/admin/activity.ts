import { LRUCache } from 'lru-cache'
import { AppError } from '../../domain/errors.ts'
import type { Usage } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'
import { operatedRunStore, operatedUserStore } from './store.ts'

interface ActivityDay extends Usage {
  /** A day in UTC. */
  date: string
  new_users: number
  runs: number
  failed_runs: number
  /** Mean time from a run's creation to the first token of its model; absent if no run of the day recorded it. */
  first_token_ms?: number
}

const dayMs = 86_400_000
/** How long figures are cached, because computing them reads every run of these days. */
const cachedMs = 60_000
const longestMs = 20_000

/** What happened on each of the last days, for the plots of the operator's page. */
export function createActivity(collections: Pick<Collections, 'runs' | 'users'>) {
  const [store, accounts] = [operatedRunStore(collections), operatedUserStore(collections)]
  const byDays = new LRUCache<number, ActivityDay[]>({ max: 10, ttl: cachedMs, fetchMethod: read })

  return function activity(days: number): Promise<ActivityDay[]> {
    return byDays.forceFetch(days)
  }

  async function read(count: number): Promise<ActivityDay[]> {
    const today = Math.floor(Date.now() / dayMs) * dayMs
    const since = new Date(today - (count - 1) * dayMs)
    const day = { $dateToString: { format: '%Y-%m-%d', date: '$created_at' } }
    try {
      const [ran, joined] = await Promise.all([
        store.sumByDayOfAny(since, day, longestMs),
        accounts.countJoinedOfAny(since, day, longestMs),
      ])
      const runsOf = new Map(ran.map(({ _id, ...figures }) => [_id, figures]))
      const joinedOn = new Map(joined.map((entry) => [entry._id, entry.count]))
      return Array.from({ length: count }, (_, index) => {
        const date = new Date(since.getTime() + index * dayMs).toISOString().slice(0, 10)
        const { first_token_ms: firstTokenMs, ...figures } = runsOf.get(date) ?? nothing
        return {
          date,
          new_users: joinedOn.get(date) ?? 0,
          ...figures,
          ...(firstTokenMs === null ? {} : { first_token_ms: Math.round(firstTokenMs) }),
        }
      })
    } catch (cause) {
      if (!(cause instanceof Error && 'codeName' in cause && cause.codeName === 'MaxTimeMSExpired')) throw cause
      throw new AppError('unavailable', 'Reading the runs of these days takes too long. Ask for fewer days.', { cause })
    }
  }
}

const nothing = {
  runs: 0,
  failed_runs: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  first_token_ms: null,
}
