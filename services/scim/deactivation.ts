import { type CancelRunDeps, cancelRun } from '../runs/index.ts'
import type { ScimStore } from './store.ts'

interface DeactivationDeps extends CancelRunDeps {
  store: ScimStore
  /** Tells Temporal of a schedule that was changed. */
  sync: (scheduleId: string) => Promise<unknown>
}

const atOnce = 100
const whyPausedByDeactivation = 'The account of its maker is deactivated.'

export type Deactivation = ReturnType<typeof createDeactivation>

/**
 * Puts a user out: tokens and logins are refused from the next request on, his runs end, his schedules are paused. What he
 * made stays: projects that others use go on, those that nobody else uses are closed to public callers until he is back.
 * His schedules stay paused then.
 */
export function createDeactivation(deps: DeactivationDeps) {
  const { store } = deps

  /** Safe to repeat. */
  async function finish(userId: string): Promise<void> {
    await store.closeOwnProjects(userId)
    for (const id of await store.pauseSchedules(userId, whyPausedByDeactivation)) {
      // If this fails, the sweep of schedules does it; the record is paused already.
      await deps.sync(id).catch(deps.onError)
    }
    for (let open = await store.openRuns(userId); open.length > 0; open = await store.openRuns(userId))
      for (const run of open) await cancelRun(deps, run)
    await store.noteDeactivated(userId)
  }

  return {
    async deactivate(userId: string): Promise<void> {
      await store.deactivate(userId)
      if (await store.isDeactivating(userId)) await finish(userId)
    },

    /** An operator's suspension stays. */
    async activate(userId: string, isSuspended: boolean): Promise<void> {
      if (!isSuspended) await store.openOwnProjects(userId)
      await store.activate(userId)
    },

    /** Does what a request could not. */
    async sweep(): Promise<void> {
      for (const { _id } of await store.deactivatingOnes(atOnce)) await finish(_id)
    },
  }
}
