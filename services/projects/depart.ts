import type { ProjectRecord } from '../../domain/records/project.ts'
import { type RunKey, openRunStatuses } from '../../domain/records/run.ts'
import type { ScheduleRecord } from '../../domain/records/schedule.ts'
import type { Collections } from '../collections.ts'
import { type CancelRunDeps, cancelRun } from '../runs/index.ts'

interface DepartDeps extends Omit<CancelRunDeps, 'collections'> {
  collections: Pick<Collections, 'projects' | 'runs' | 'threads' | 'schedules'>
  /** Tells Temporal of a schedule that was changed. */
  sync: (scheduleId: string) => Promise<unknown>
}

export type Depart = (left: { projectId: string; userId: string }) => Promise<void>

const atOnce = 100

export const whyPausedByLeaving = 'Its maker does not use the project any more.'

/**
 * What follows when somebody does not use a project any more: his runs in it end, and what they have answered stays; his
 * schedules in it are paused. Safe to repeat.
 */
export function createDepart(deps: DepartDeps): Depart {
  const { projects, runs, schedules } = deps.collections

  return async ({ projectId, userId }) => {
    const his = { user_id: userId, project_id: projectId }
    const now = new Date()
    const planned = await schedules
      .find({ ...his, paused: false, deleting: { $ne: true } }, { _id: 1 })
      .lean<Pick<ScheduleRecord, '_id'>[]>()
    for (const { _id } of planned) {
      await schedules.updateOne(
        { _id, ...his, paused: false },
        { $set: { paused: true, pause_reason: whyPausedByLeaving, check_at: now }, $inc: { revision: 1 } },
        { timestamps: false },
      )
      // If this fails, the sweep does it; the record is paused already.
      await deps.sync(_id).catch(deps.onError)
    }
    const open = await runs.find({ ...his, status: { $in: [...openRunStatuses] } }, { thread_id: 1 }).lean<RunKey[]>()
    for (const run of open) await cancelRun(deps, run)
    await projects.updateOne({ _id: projectId }, { $pull: { leaving: userId } })
    await projects.updateOne({ _id: projectId, leaving: [] }, { $unset: { leaving: 1 } })
  }
}

/** Does for those who have left what the request that removed them could not do. */
export function createDepartureSweep({ projects }: Pick<Collections, 'projects'>, depart: Depart) {
  return async (): Promise<void> => {
    const found = await projects
      .find({ leaving: { $exists: true } }, { leaving: 1 })
      .limit(atOnce)
      .lean<Pick<ProjectRecord, '_id' | 'leaving'>[]>()
    for (const { _id: projectId, leaving = [] } of found)
      for (const userId of leaving) await depart({ projectId, userId })
  }
}
