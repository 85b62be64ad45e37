import { isPerson, kindOf } from '../../domain/acting.ts'
import type { ReadRecords } from '../../domain/archive/items.ts'
import { scheduleRecord } from '../../domain/records/schedule.ts'
import { type Restores, refused } from '../capability.ts'
import type { Collections } from '../collections.ts'
import type { Store } from '../owned-data/data-store.ts'
import { timetableStore } from '../owned-data/timetable-store.ts'
import { assistantStore } from '../stores/assistants.ts'
import { scheduleStore } from '../stores/schedules.ts'
import { threadStore } from '../stores/threads.ts'
import { requireShort } from './schedule-input.ts'
import { recordOf } from './schedule-record.ts'
import { type ScheduleMaker, checkTimes, ownerMakes, timingOf } from './schedule-request.ts'
import type { Timetable } from './timetable.ts'
import type { createScheduleWrites } from './write-schedules.ts'

interface RestoreDeps {
  collections: Pick<Collections, 'schedules' | 'assistants' | 'threads'>
  schedules: Pick<ReturnType<typeof createScheduleWrites>, 'insert'>
}

const whyPaused =
  'Paused by the import, because it may still run where the archive was made. Continue it when it no longer does.'
const partsLeftOut = 'Its images, sounds and files were left out.'

/** What others need of schedules; the records, their owners and indexes are declared. */
export const schedulesCapability = {
  /** They are paused, so that two servers do not both run them, and mail nothing until their owner asks for it. */
  restore: ({ collections, schedules }: RestoreDeps): Pick<Restores, 'schedules'> => ({
    async schedules(userId, archived, idOf) {
      const id = idOf('schedule', archived.schedule_id)
      if ((await scheduleStore(collections).findMadeBy(userId, id)) !== null) return 'existing'
      const timing = { ...timingOf(archived), created_at: new Date(archived.created_at) }
      checkTimes(timing)
      requireShort(archived.input_json, ['input'])
      const owner = { userId, projectId: idOf('project', archived.project_id) }
      const assistantId = idOf('assistant', archived.assistant_id)
      if (!(await assistantStore(collections).hasOwned(userId, assistantId)))
        throw refused('its assistant was not imported')
      const threadId = archived.thread_id && idOf('thread', archived.thread_id)
      if (threadId !== undefined && (await threadStore(collections).findOwned(userId, threadId)) === null)
        throw refused('its thread was not imported')
      const given = {
        ...settingsOf(archived),
        assistant_id: assistantId,
        ...(threadId === undefined ? {} : { thread_id: threadId }),
        paused: true,
        mail_result: false,
      }
      await schedules.insert({
        ...recordOf(owner, id, given, timing, { ...makerOf(archived), input_json: archived.input_json }),
        runs_made: archived.runs_made,
        pause_reason: archived.hadParts ? `${whyPaused} ${partsLeftOut}` : whyPaused,
      })
      return 'imported'
    },
  }),

  /** The schedules at Temporal go first, so that nothing is started any more; then the records and the lists of runs. */
  stores: ({
    collections,
    timetable,
  }: {
    collections: Pick<Collections, 'schedules'>
    timetable: Timetable
  }): Store[] => [
    timetableStore({
      name: 'temporal_schedules',
      records: collections.schedules,
      fields: scheduleRecord.owners,
      stop: { $set: { deleting: true } },
      timetable,
    }),
  ],
}

/** Only assistants make schedules for others than the owner. */
function makerOf({ person = 'owner' }: ReadRecords['schedules']): ScheduleMaker {
  if (!isPerson(person)) throw refused('it names nobody for whom its runs could work')
  return person === 'owner' || kindOf(person) === 'member' ? ownerMakes : { madeBy: 'assistant', person }
}

function settingsOf({ jitter_seconds, max_runs, overlap, catchup_seconds, note }: ReadRecords['schedules']) {
  return { jitter_seconds, ...(max_runs === undefined ? {} : { max_runs }), overlap, catchup_seconds, note }
}
