import type { Usage } from '../../domain/records/run.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import { AppError } from '../../domain/errors.ts'
import type { Collections } from '../collections.ts'

export interface UserUsage extends Usage {
  thread_counter: number
  thread_max: number
  projects: number
  assistants: number
  files: number
  runs: number
  /** The threads with the most tokens, among those that exist. */
  threads: ThreadUsage[]
  /** The last 30 days with runs, oldest first; days are in UTC. */
  days: (Usage & { date: string; runs: number })[]
  /** The assistants with the most tokens. */
  assistants_used: (Usage & { assistant_id: string; runs: number })[]
}

export interface ThreadUsage extends Usage {
  thread_id: string
  runs: number
}

const threadsShown = 100
const assistantsShown = 50
const daysShown = 30

type UsedCollections = Pick<Collections, 'users' | 'projects' | 'assistants' | 'files' | 'runs'>

/** What a user has now, and the tokens that models counted for runs that still exist. */
export function createUsage({ users, projects, assistants, files, runs }: UsedCollections) {
  return async function usageOf(userId: string): Promise<UserUsage> {
    const own = { user_id: userId }
    const sums = {
      runs: { $sum: 1 },
      prompt_tokens: { $sum: '$usage.prompt_tokens' },
      completion_tokens: { $sum: '$usage.completion_tokens' },
      total_tokens: { $sum: '$usage.total_tokens' },
    }
    const [user, projectCount, assistantCount, fileCount, [totals], byThread, byDay, byAssistant] = await Promise.all([
      users.findById(userId, { thread_counter: 1, thread_max: 1 }).lean<UserRecord>(),
      projects.countDocuments(own),
      assistants.countDocuments(own),
      files.countDocuments({ ...own, status: { $ne: 'uploading' } }),
      runs.aggregate<Usage & { runs: number }>([{ $match: own }, { $group: { _id: null, ...sums } }]),
      runs.aggregate<ThreadUsage & { _id: string }>([
        { $match: own },
        { $group: { _id: '$thread_id', ...sums } },
        { $sort: { total_tokens: -1, _id: 1 } },
        { $limit: threadsShown },
      ]),
      runs.aggregate<Usage & { _id: string; runs: number }>([
        { $match: { ...own, created_at: { $gte: new Date(Date.now() - daysShown * 86_400_000) } } },
        { $group: { _id: { $dateToString: { format: '%Y-%m-%d', date: '$created_at' } }, ...sums } },
        { $sort: { _id: 1 } },
      ]),
      runs.aggregate<Usage & { _id: string; runs: number }>([
        { $match: own },
        { $group: { _id: '$assistant_id', ...sums } },
        { $sort: { total_tokens: -1, _id: 1 } },
        { $limit: assistantsShown },
      ]),
    ])
    if (user === null) throw new AppError('not_found', 'This account no longer exists.')
    return {
      thread_counter: user.thread_counter,
      thread_max: user.thread_max,
      projects: projectCount,
      assistants: assistantCount,
      files: fileCount,
      runs: totals?.runs ?? 0,
      prompt_tokens: totals?.prompt_tokens ?? 0,
      completion_tokens: totals?.completion_tokens ?? 0,
      total_tokens: totals?.total_tokens ?? 0,
      threads: byThread.map(({ _id, ...counts }) => ({ ...counts, thread_id: _id })),
      days: byDay.map(({ _id, ...counts }) => ({ ...counts, date: _id })),
      assistants_used: byAssistant.map(({ _id, ...counts }) => ({ ...counts, assistant_id: _id })),
    }
  }
}
