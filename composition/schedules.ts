import { createSchedules } from '../services/schedules/index.ts'
import { createFinishRun } from '../services/schedules/finish-run.ts'
import { createMailResult } from '../services/schedules/mail-result.ts'
import { createStartDueRun } from '../services/schedules/start-due-run.ts'
import { createScheduleSweep, createSyncSchedule } from '../services/schedules/sync.ts'
import type { Core } from './core.ts'
import type { composeRuns } from './runs.ts'

/** Schedules: as their owners see them (API), and their runs (worker). */
export function composeSchedules(core: Core, { runs }: Pick<ReturnType<typeof composeRuns>, 'runs'>) {
  const { collections, transaction, timetable, logger } = core
  const onError = (error: unknown) =>
    logger.warn({ err: error }, 'a schedule could not be passed on; a worker tries again')
  const sync = createSyncSchedule({ collections, timetable })
  const deps = { ...core, runs, sync, onError }
  const startDueRun = createStartDueRun(deps)
  const schedules = createSchedules({ ...deps, startDueRun })
  return {
    schedules,
    sweep: createScheduleSweep({ collections, sync, followAgain: schedules.followAgain, onError }),
    activities: {
      startDueRun,
      ...createFinishRun({ collections, transaction, runs, sync, onError }),
      mailResult: createMailResult({
        collections,
        mailer: core.mailer,
        secrets: core.derivedSecrets,
        readOutput: runs.output,
        settings: core.settings,
      }),
    },
  }
}
