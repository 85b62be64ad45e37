import { createChangeMembers } from '../services/projects/change-members.ts'
import { createDepart, createDepartureSweep } from '../services/projects/depart.ts'
import { createMembers } from '../services/projects/members.ts'
import type { Core } from './core.ts'

/** Who uses a project with whom (API), and what follows when somebody does not any more (both). */
export function composeMembers(core: Core) {
  const { collections, transaction, workflows } = core
  const changeMembers = createChangeMembers({ collections, transaction })
  const depart = createDepart({ ...core, sync: core.scheduleSync.sync })
  return {
    members: createMembers({ collections, changeMembers, depart, secrets: core.derivedSecrets, workflows }),
    sweepDepartures: createDepartureSweep(collections, depart),
  }
}
