import { isPerson, kindOf } from '../../domain/acting.ts'
import type { ReadRecords } from '../../domain/archive/items.ts'
import type { Collections } from '../collections.ts'
import { recordOf } from '../schedules/schedule-record.ts'
import { type ScheduleMaker, checkTimes, ownerMakes, timingOf } from '../schedules/schedule-request.ts'
import { requireShort } from '../schedules/schedule-input.ts'
import type { createScheduleWrites } from '../schedules/write-schedules.ts'
import { type Import, importedThread } from './import.ts'
import { refused, settle } from './report.ts'

export interface ImportSchedulesDeps {
  collections: Pick<Collections, 'schedules' | 'assistants' | 'threads'>
  schedules: Pick<ReturnType<typeof createScheduleWrites>, 'insert'>
}

const whyPaused =
  'Paused by the import, because it may still run where the archive was made. Continue it when it no longer does.'
const partsLeftOut = 'Its images, sounds and files were left out.'

/**
 * Stores the schedules of an archive. They are paused, so that two servers do not both run them, and mail nothing until
 * their owner asks for it.
 */
export function createScheduleImport(
  { collections, schedules }: ImportSchedulesDeps,
  { userId, idOf, report }: Import,
) {
  return (archived: ReadRecords['schedules']) =>
    settle(report, 'schedules', archived.schedule_id, async () => {
      const id = idOf('schedule', archived.schedule_id)
      if ((await collections.schedules.exists({ _id: id, user_id: userId })) !== null) return 'existing'
      const timing = { ...timingOf(archived), created_at: new Date(archived.created_at) }
      checkTimes(timing)
      requireShort(archived.input_json, ['input'])
      const place = { userId, projectId: idOf('project', archived.project_id) }
      const assistantId = idOf('assistant', archived.assistant_id)
      if ((await collections.assistants.exists({ _id: assistantId, user_id: userId })) === null)
        throw refused('its assistant was not imported')
      const threadId = archived.thread_id && idOf('thread', archived.thread_id)
      if (threadId !== undefined) await importedThread(collections, userId, threadId)
      const given = {
        ...settingsOf(archived),
        assistant_id: assistantId,
        ...(threadId === undefined ? {} : { thread_id: threadId }),
        paused: true,
        mail_result: false,
      }
      await schedules.insert({
        ...recordOf(place, id, given, timing, { ...makerOf(archived), input_json: archived.input_json }),
        runs_made: archived.runs_made,
        pause_reason: archived.hadParts ? `${whyPaused} ${partsLeftOut}` : whyPaused,
      })
      return 'imported'
    })
}

/** Only assistants make schedules for others than the owner. */
function makerOf({ person = 'owner' }: ReadRecords['schedules']): ScheduleMaker {
  if (!isPerson(person)) throw refused('it names nobody for whom its runs could work')
  return person === 'owner' || kindOf(person) === 'member' ? ownerMakes : { madeBy: 'assistant', person }
}

function settingsOf({ jitter_seconds, max_runs, overlap, catchup_seconds, note }: ReadRecords['schedules']) {
  return { jitter_seconds, ...(max_runs === undefined ? {} : { max_runs }), overlap, catchup_seconds, note }
}
