import { createQueueStatus } from '../infra/temporal/queue-status.ts'
import { createAccountAdmin } from '../services/admin/accounts.ts'
import { createActivity } from '../services/admin/activity.ts'
import { openIngestions } from '../services/admin/ingestions.ts'
import { createSuspension } from '../services/admin/suspension.ts'
import type { Accounts } from '../services/accounts/index.ts'
import type { Runs } from '../services/runs/index.ts'
import type { Core } from './core.ts'

export type Administration = ReturnType<typeof composeAdministration>

/** Operations for operators, except clean-ups. */
export function composeAdministration(
  { settings, infra, collections, transaction }: Core,
  { accounts, runs }: { accounts: Pick<Accounts, 'usageOf'>; runs: Pick<Runs, 'cancel'> },
) {
  return {
    accounts: createAccountAdmin({ collections, transaction, usageOf: accounts.usageOf }),
    suspension: createSuspension({ collections, transaction, runs }),
    activity: createActivity(collections),
    ingestions: () => openIngestions(collections),
    queues: createQueueStatus(infra.temporal.client, settings),
  }
}
