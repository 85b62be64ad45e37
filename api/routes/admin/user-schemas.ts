import Type, { type Static } from 'typebox'
import { runStatuses } from '../../../domain/records/run.ts'
import type { UserRecord } from '../../../domain/records/user.ts'
import type { AccountView } from '../../../services/admin/accounts.ts'
import { Usage } from '../auth/schemas.ts'
import { Checkout, toCheckout } from '../billing/schemas.ts'
import { Timestamp, nullable } from '../schemas.ts'
import { AdminUser, toAdminUser } from './schemas.ts'

const AdminRun = Type.Object(
  {
    run_id: Type.String(),
    thread_id: Type.String(),
    assistant_id: Type.String(),
    public: Type.Boolean({ description: 'Started by a public caller.' }),
    status: Type.Enum([...runStatuses], { title: 'RunStatus', about: 'State of a run.' }),
    error_type: nullable(Type.String()),
    total_tokens: Type.Integer(),
    created_at: Timestamp,
    finished_at: nullable(Timestamp),
  },
  { title: 'AdminRun', about: 'A run as an administrator sees it: no text of a message.' },
)

export const AdminUserDetails = Type.Object(
  {
    user: AdminUser,
    thread_max: Type.Integer({ description: 'Threads allowed now.' }),
    thread_max_base: Type.Integer({ description: 'Threads allowed without plans.' }),
    storage_max_mb: nullable(
      Type.Integer({ description: 'What is set for this user; null: as the settings say. `usage` has what counts.' }),
    ),
    suspended_at: nullable(Timestamp),
    suspension_reason: nullable(Type.String()),
    usage: Usage,
    recent_runs: Type.Array(AdminRun, { description: 'The newest twenty.' }),
    purchases: Type.Array(Checkout, { description: 'The newest fifty.' }),
  },
  { title: 'AdminUserDetails', about: 'One user with quota, usage, newest runs and purchases.' },
)

const ListedUser = Type.Object(
  { ...AdminUser.properties, suspended_at: nullable(Timestamp) },
  { title: 'ListedUser', about: 'A user in the list of all.' },
)

export const ListedUsers = Type.Object(
  { users: Type.Array(ListedUser), total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer() },
  { title: 'ListedUsers', about: 'A page of users.' },
)

export function toListedUser(user: UserRecord): Static<typeof ListedUser> {
  return { ...toAdminUser(user), suspended_at: user.suspended_at?.toISOString() ?? null }
}

export const SuspendUserRequest = Type.Object(
  { reason: Type.String({ minLength: 1, maxLength: 1000, description: 'For operators; the user is not told.' }) },
  { title: 'SuspendUserRequest', about: 'Why the user is suspended.' },
)

export const ThreadMaxRequest = Type.Object(
  { thread_max: Type.Integer({ minimum: 0, maximum: 1_000_000_000 }) },
  { title: 'ThreadMaxRequest', about: 'How many threads the user may have without plans.' },
)

export const StorageMaxRequest = Type.Object(
  {
    storage_max_mb: nullable(
      Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'null: as the settings say.' }),
    ),
  },
  { title: 'StorageMaxRequest', about: 'Maximum total size of the files of the user.' },
)

export function toAccount({ user, usage, recentRuns, purchases }: AccountView): Static<typeof AdminUserDetails> {
  return {
    user: toAdminUser(user),
    thread_max: user.thread_max,
    thread_max_base: user.thread_max_base ?? user.thread_max,
    storage_max_mb: user.storage_max_mb ?? null,
    suspended_at: user.suspended_at?.toISOString() ?? null,
    suspension_reason: user.suspension_reason ?? null,
    usage,
    recent_runs: recentRuns.map((run) => ({
      run_id: run._id,
      thread_id: run.thread_id,
      assistant_id: run.assistant_id,
      public: run.public,
      status: run.status,
      error_type: run.error?.type ?? null,
      total_tokens: run.usage?.total_tokens ?? 0,
      created_at: run.created_at.toISOString(),
      finished_at: run.finished_at?.toISOString() ?? null,
    })),
    purchases: purchases.map(toCheckout),
  }
}
