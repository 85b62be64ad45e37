import { createCleanupWorkflows } from '../infra/temporal/cleanup-workflows.ts'
import { createDeletionWorkflows } from '../infra/temporal/deletion-workflows.ts'
import { createAdmin } from '../services/admin/index.ts'
import { createOrphans } from '../services/admin/orphans.ts'
import { createUserSelections } from '../services/admin/users.ts'
import { createDeletion } from '../services/deletion/index.ts'
import { createDeletionRequests } from '../services/deletion/requests.ts'
import { createStores } from '../services/deletion/stores.ts'
import type { Core } from './core.ts'

/** Deletions, asked for (API) and carried out (worker), and the clean-ups of an administrator. */
export function composeDeletion(core: Core) {
  const { settings, infra, collections, transaction, stream, workflows, tracing, onError } = core
  const { client } = infra.temporal
  const { taskQueuePrefix } = settings
  const waitMs = settings.deletionWaitSeconds * 1000
  const knowledge = { collections, ...infra.knowledge }
  return {
    deletions: createDeletionRequests({
      collections,
      workflows: createDeletionWorkflows(client, { taskQueuePrefix, waitMs }),
    }),
    admin: createAdmin({ collections, workflows: createCleanupWorkflows(client, { taskQueuePrefix, waitMs }) }),
    deletion: createDeletion({
      collections,
      transaction,
      stream,
      stores: createStores({ collections, transaction, stream, knowledge }),
      workflows,
      tracing,
      onError,
    }),
    selections: createUserSelections(collections),
    orphans: createOrphans({ ...infra.database, knowledge: infra.knowledge }),
  }
}
