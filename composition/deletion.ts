import { createAdmin } from '../services/admin/index.ts'
import { createOrphans } from '../services/admin/orphans.ts'
import { createUserSelections } from '../services/admin/users.ts'
import type { Billing } from '../services/billing/index.ts'
import { createDeletion } from '../services/deletion/index.ts'
import { createDeletionRequests } from '../services/deletion/requests.ts'
import { createStores } from '../services/deletion/stores.ts'
import type { Core } from './core.ts'
import { composeHandOver } from './members.ts'

/** Deletions, requested by the API and executed by workers, and the clean-ups of an operator. */
export function composeDeletion(core: Core, billing: Pick<Billing, 'endFor'>) {
  const { settings, infra, collections, transaction, stream, workflows, tracing, budgetCounting, onError } = core
  const { timetable, refreshes } = core
  const waitMs = settings.deletionWaitSeconds * 1000
  const knowledge = { collections, ...infra.knowledge }
  const handOver = composeHandOver(core)
  return {
    deletions: createDeletionRequests({ collections, workflows, waitMs, handOver }),
    admin: createAdmin({ collections, workflows, waitMs }),
    deletion: createDeletion({
      collections,
      transaction,
      stream,
      stores: createStores({ collections, transaction, stream, knowledge, billing, timetable, refreshes, handOver }),
      handOver,
      mailer: core.mailer,
      workflows,
      tracing,
      budgetCounting,
      billing,
      onError,
    }),
    selections: createUserSelections(collections),
    orphans: createOrphans({ ...infra.database, knowledge: infra.knowledge }),
  }
}
