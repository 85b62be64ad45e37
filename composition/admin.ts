import { abilitiesOf, contextWindowOf, listedPriceOf } from '../infra/model/known-models.ts'
import { createModelServers } from '../infra/model/model-server.ts'
import { createModelByKind } from '../infra/model/routed-model.ts'
import { createQueueStatus } from '../infra/temporal/describe-queue.ts'
import type { Accounts } from '../services/accounts/index.ts'
import { createAccountAdmin } from '../services/admin/accounts.ts'
import { createActivity } from '../services/admin/activity.ts'
import { openIngestions } from '../services/admin/ingestions.ts'
import { createModelOperation } from '../services/admin/model-operation.ts'
import { createSuspension } from '../services/admin/suspension.ts'
import { createTryModel } from '../services/admin/try-model.ts'
import { createModelSettings } from '../services/models/model-settings.ts'
import type { Runs } from '../services/runs/index.ts'
import type { Core } from './core.ts'
import { composeSearch } from './search.ts'

export type Administration = ReturnType<typeof composeAdministration>

/** Operations for operators, except clean-ups. */
export function composeAdministration(
  { settings, infra, collections, transaction, secretBox, models, dialects }: Core,
  { accounts, runs }: { accounts: Pick<Accounts, 'usageOf'>; runs: Pick<Runs, 'cancel'> },
) {
  const { ownFetch } = infra.outbound
  const servers = createModelServers(ownFetch)
  const modelSettings = createModelSettings({
    collections,
    secretBox,
    models,
    facts: { abilitiesOf, listedPriceOf, learntOf: dialects.learnt },
  })
  return {
    models: createModelOperation({
      settings: modelSettings,
      servers,
      tryModel: createTryModel({
        // The addresses are those of operators, so nothing needs the guard.
        chat: createModelByKind({
          ownFetch,
          guardedFetch: ownFetch,
          dialects,
          silenceMs: settings.modelSilenceSeconds * 1000,
        }),
        servers,
        listedWindow: (model, account) => contextWindowOf(model, settings.modelContextTokens, account),
      }),
    }),
    search: composeSearch({ settings, infra, models }, modelSettings),
    accounts: createAccountAdmin({ collections, transaction, usageOf: accounts.usageOf }),
    suspension: createSuspension({ collections, transaction, runs }),
    activity: createActivity(collections),
    ingestions: () => openIngestions(collections),
    queues: createQueueStatus(infra.temporal.client, settings),
  }
}
