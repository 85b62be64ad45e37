import { firstIdAt } from '../../../domain/ids.ts'
import { costOf } from '../../../domain/model-prices.ts'
import type { MemberRecord, ProjectRecord } from '../../../domain/records/project.ts'
import type { Usage } from '../../../domain/records/run.ts'
import type { Collections } from '../../collections.ts'
import type { ModelsNow } from '../../models/live-models.ts'

export interface UsageSum {
  runs: number
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  cost: number
}

export interface ProjectUsage {
  currency: string
  /**
   * Of those who use the project, each in his own runs; those who cost most first. Who uses it by a group only, or has left
   * it (`former`), has the id of his account as `member_id`, and is listed if he has spent something.
   */
  members: (UsageSum & { member_id: string; user_id: string; former: boolean })[]
  /** Of callers without an account. */
  public: UsageSum
}

interface ProjectUsageDeps {
  collections: Pick<Collections, 'runs' | 'users'>
  models: ModelsNow
}

type Key = { user: string; public: boolean }
type Row = Pick<
  Usage,
  'prompt_tokens' | 'completion_tokens' | 'total_tokens' | 'cached_tokens' | 'cache_write_tokens'
> & {
  _id: Key & { model?: string }
}

const rowsRead = 10_000
/** Of those who use a project by groups, those who were active last. */
const ofGroupsRead = 1000
const dayMs = 86_400_000

/** What those who use a project have spent in it: counts and cost of runs that still exist, never what was said. */
export function createProjectUsage({ collections: { runs, users: accounts }, models }: ProjectUsageDeps) {
  /** Who is in the groups that use a project. */
  async function inGroupsOf(members: MemberRecord[]): Promise<string[]> {
    const groups = members.flatMap(({ group_id: id }) => id ?? [])
    if (groups.length === 0) return []
    const found = await accounts
      .find({ $or: [{ group_ids: { $in: groups } }, { claimed_group_ids: { $in: groups } }] }, { _id: 1 })
      .sort({ last_active_at: -1, _id: 1 })
      .limit(ofGroupsRead)
      .lean<{ _id: string }[]>()
    return found.map(({ _id: id }) => id)
  }

  /** Of the last days, today included; days are in UTC. */
  return async (
    { _id, user_id: holder, members = [], former_users: left = [] }: ProjectRecord,
    days: number,
  ): Promise<ProjectUsage> => {
    const { prices } = models.current()
    const since = new Date((Math.floor(Date.now() / dayMs) - days + 1) * dayMs)
    const named = [{ id: holder, user_id: holder }, ...members].flatMap(({ id, user_id: userId }) =>
      userId === undefined ? [] : [{ member_id: id, user_id: userId, former: false }],
    )
    const known = new Set(named.map(({ user_id: id }) => id))
    const others = (await inGroupsOf(members)).filter((id) => !known.has(id))
    const former = left.filter((id) => !known.has(id) && !others.includes(id))
    const users = [
      ...named,
      ...others.map((id) => ({ member_id: id, user_id: id, former: false })),
      ...former.map((id) => ({ member_id: id, user_id: id, former: true })),
    ]
    const counted = {
      user_id: { $in: users.map(({ user_id: id }) => id) },
      _id: { $gte: firstIdAt(since) },
      project_id: _id,
      created_at: { $gte: since },
      imported: { $ne: true },
    }
    const key = { user: '$user_id', public: '$public' }
    const [counts, rows] = await Promise.all([
      runs.aggregate<{ _id: Key; runs: number }>([
        { $match: counted },
        { $group: { _id: key, runs: { $sum: 1 } } },
        { $limit: rowsRead },
      ]),
      runs.aggregate<Row>([
        { $match: { ...counted, usage: { $exists: true } } },
        { $set: { parts: { $ifNull: ['$usage_by_model', [{ $mergeObjects: ['$usage', { model: '$model' }] }]] } } },
        { $unwind: '$parts' },
        {
          $group: {
            _id: { ...key, model: '$parts.model' },
            prompt_tokens: { $sum: '$parts.prompt_tokens' },
            completion_tokens: { $sum: '$parts.completion_tokens' },
            total_tokens: { $sum: '$parts.total_tokens' },
            cached_tokens: { $sum: '$parts.cached_tokens' },
            cache_write_tokens: { $sum: '$parts.cache_write_tokens' },
          },
        },
        { $limit: rowsRead },
      ]),
    ])

    function sumOf(isMeant: (row: Key) => boolean): UsageSum {
      const meant = rows.filter((row) => isMeant(row._id))
      const sum = (member: 'prompt_tokens' | 'completion_tokens' | 'total_tokens') =>
        meant.reduce((total, row) => total + row[member], 0)
      return {
        runs: counts.filter((row) => isMeant(row._id)).reduce((total, row) => total + row.runs, 0),
        prompt_tokens: sum('prompt_tokens'),
        completion_tokens: sum('completion_tokens'),
        total_tokens: sum('total_tokens'),
        cost: meant.reduce((total, row) => total + costOf(prices, row._id.model, row), 0),
      }
    }

    const spent = new Set([...rows, ...counts].map(({ _id: key }) => key.user))
    const ofMembers = users
      .filter(({ user_id: id }) => known.has(id) || spent.has(id))
      .map((user) => ({
        ...user,
        ...sumOf((row) => row.user === user.user_id && !row.public),
      }))
    return {
      currency: prices.currency,
      members: ofMembers.toSorted((a, b) => b.cost - a.cost || b.total_tokens - a.total_tokens),
      public: sumOf((row) => row.public),
    }
  }
}
