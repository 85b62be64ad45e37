import { loginProviders } from '../domain/login-providers.ts'
import { createNoteClaims } from '../services/groups/claimed-groups.ts'
import { createGroups } from '../services/groups/index.ts'
import { createLeaveGroups } from '../services/groups/leave-groups.ts'
import { groupStore } from '../services/groups/store.ts'
import { createHandOver } from '../services/hand-over/index.ts'
import { createChangeMembers } from '../services/projects/change-members.ts'
import { createDepart, createDepartureSweep } from '../services/projects/depart.ts'
import { createMembers } from '../services/projects/members.ts'
import { createDeactivation } from '../services/scim/deactivation.ts'
import { createScimGroups } from '../services/scim/groups.ts'
import { scimStore } from '../services/scim/store.ts'
import { createScimUsers } from '../services/scim/users.ts'
import type { Core } from './core.ts'

/** Gives projects to others of their members. */
export function composeHandOver({ collections, transaction, storageQuota, memory }: Core) {
  return createHandOver({ collections, transaction, storageQuota, releaseFacts: memory.releaseFacts })
}

/** Who uses a project with whom (API), and what follows when somebody does not any more (both). */
export function composeMembers(core: Core) {
  const { collections, transaction, workflows } = core
  const changeMembers = createChangeMembers({ collections, transaction })
  const depart = createDepart({ ...core, sync: core.scheduleSync.sync })
  const handOver = composeHandOver(core)
  const sweepLeaving = createDepartureSweep(collections, depart)
  const store = groupStore(collections)
  const leaveGroups = createLeaveGroups(store, depart)
  const groups = createGroups(store, leaveGroups, core.allowances)
  const { settings } = core
  const providers = loginProviders(settings.loginProviders)
  const provider = settings.loginProviders.find(({ id }) => id === settings.scimProvider)
  const ofScim = scimStore(collections, transaction, provider, providers)
  const deactivation = createDeactivation({ ...core, store: ofScim, sync: core.scheduleSync.sync })
  return {
    /** Users and groups as provisioning sees them. */
    scim: {
      users: createScimUsers({
        store: ofScim,
        groups: store,
        leaveGroups,
        deactivation,
        providers,
        provider,
        providerId: settings.scimProvider,
        threadMaxDefault: settings.threadMaxDefault,
      }),
      groups: createScimGroups({ store: ofScim, groups: store, leaveGroups }),
    },
    members: createMembers({
      collections,
      changeMembers,
      depart,
      groups,
      groupStore: store,
      leaveGroups,
      secrets: core.derivedSecrets,
      workflows,
    }),
    handOver,
    groups,
    groupStore: store,
    leaveGroups,
    noteClaims: createNoteClaims(store, leaveGroups, (error) =>
      core.logger.warn({ err: error }, 'a group was not made'),
    ),
    async sweepDepartures() {
      await deactivation.sweep()
      await leaveGroups.sweep()
      await sweepLeaving()
      await handOver.sweep()
    },
  }
}
