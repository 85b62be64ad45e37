import { createFinishRun } from '../services/schedules/finish-run.ts'
import { createMailResult } from '../services/schedules/mail-result.ts'
import { createStartDueRun } from '../services/schedules/start-due-run.ts'
import { createScheduleSweep } from '../services/schedules/sync.ts'
import { createScheduleRuns } from '../services/schedules/triggered-runs.ts'
import type { Core } from './core.ts'
import type { composeRuns } from './runs.ts'

/** Schedules: as their owners see them (API), and their runs (worker). */
export function composeSchedules(core: Core, { runs }: Pick<ReturnType<typeof composeRuns>, 'runs'>) {
  const { collections, transaction } = core
  const { sync, onError } = core.scheduleSync
  const startDueRun = createStartDueRun({ ...core, runs })
  const schedules = { ...core.schedules, ...createScheduleRuns({ ...core, startDueRun }, core.schedules) }
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
