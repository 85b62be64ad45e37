import type { ReadRecords } from '../../domain/archive/items.ts'
import { type RunRecord, isOpenRun } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { runErrorTypeOf } from '../../domain/run-errors.ts'

/** What a run is on `/v1`. */
type RunOfV1 = Pick<RunRecord, 'completion' | 'response_json' | 'response_removed'>

/** The record of an archived run. A run that was open there has ended here: nothing carries it on. */
export function importedRun(
  archived: ReadRecords['runs'],
  { id, assistantId, thread, v1 }: { id: string; assistantId: string; thread: ThreadRecord; v1: RunOfV1 },
): RunRecord {
  const created = new Date(archived.created_at)
  const isOpen = isOpenRun(archived)
  return {
    _id: id,
    thread_id: thread._id,
    user_id: thread.user_id,
    project_id: thread.project_id,
    assistant_id: assistantId,
    public: thread.public,
    acting: { person: 'owner', origin: thread.public ? 'public' : 'chat' },
    status: isOpen ? 'cancelled' : archived.status,
    input_json: archived.input_json,
    overrides: archived.overrides,
    ...v1,
    ...(archived.finish_reason === undefined ? {} : { finish_reason: archived.finish_reason }),
    ...(archived.metadata_json === undefined ? {} : { metadata_json: archived.metadata_json }),
    fence: 1,
    imported: true,
    ...(archived.asked_by === undefined ? {} : { asked_by: archived.asked_by }),
    ...(archived.usage === undefined ? {} : { usage: archived.usage }),
    ...(archived.usage_by_model === undefined ? {} : { usage_by_model: archived.usage_by_model }),
    ...(archived.model === undefined ? {} : { model: archived.model }),
    ...(archived.error === undefined
      ? {}
      : { error: { ...archived.error, type: runErrorTypeOf(archived.error.type) } }),
    created_at: created,
    ...(archived.started_at === undefined ? {} : { started_at: new Date(archived.started_at) }),
    finished_at: archived.finished_at === undefined ? created : new Date(archived.finished_at),
  }
}
