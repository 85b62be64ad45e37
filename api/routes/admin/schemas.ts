import Type, { type Static } from 'typebox'
import { AnyKey } from '../../../domain/any-key.ts'
import type { UserRecord } from '../../../domain/records/user.ts'
import { Timestamp } from '../schemas.ts'

const count = Type.Integer()

export const SystemStats = Type.Object(
  {
    users: Type.Object({ total: count, verified: count, unverified: count, active_last_30_days: count }),
    projects: Type.Object({ total: count }),
    assistants: Type.Object({ total: count, public: count }),
    threads: Type.Object({ total: count, public: count, archived: count }),
    runs: Type.Object({ total: count, by_status: Type.Record(AnyKey, count) }),
    files: Type.Object({ total: count, bytes: count }),
    deletions: Type.Object({ failed: count }),
  },
  { title: 'SystemStats', about: 'Usage statistics.' },
)

export const AdminUser = Type.Object(
  {
    user_id: Type.String(),
    email: Type.Union([Type.String(), Type.Null()]),
    provider: Type.String(),
    verified: Type.Boolean(),
    thread_counter: count,
    created_at: Timestamp,
    last_active_at: Timestamp,
  },
  { title: 'AdminUser', about: 'A user as an operator sees it.' },
)

export const InactiveUsers = Type.Object(
  {
    users: Type.Array(AdminUser, { description: 'Least recently active first.' }),
    total: count,
    min_days_old: Type.Integer(),
    limit: count,
    offset: count,
  },
  { title: 'InactiveUsers', about: 'Users who have not used the service for a while.' },
)

export const UserCleanupResponse = Type.Object(
  {
    dry_run: Type.Boolean(),
    users: Type.Array(AdminUser, { description: 'The users to delete; at most 1,000.' }),
    total: count,
    workflow_id: Type.String({ description: 'The workflow that deletes them; a dry run deletes nobody.' }),
    message: Type.String(),
  },
  { title: 'UserCleanupResponse', about: 'The users to delete, and the workflow that deletes them.' },
)

export const OrphanCleanupResponse = Type.Object(
  {
    dry_run: Type.Boolean(),
    workflow_id: Type.String(),
    complete: Type.Boolean({ description: 'False while it is still under way.' }),
    found: Type.Union([count, Type.Null()], {
      description: 'Records whose owner is gone, and interrupted deletions.',
    }),
    orphans: Type.Record(AnyKey, count, { description: 'Orphans by store.' }),
    message: Type.String(),
  },
  { title: 'OrphanCleanupResponse', about: 'Orphans by store, and how many were removed.' },
)

export function toAdminUser(user: UserRecord): Static<typeof AdminUser> {
  return {
    user_id: user._id,
    email: user.email ?? null,
    provider: user.provider,
    verified: user.verified,
    thread_counter: user.thread_counter,
    created_at: user.created_at.toISOString(),
    last_active_at: user.last_active_at.toISOString(),
  }
}
