import { readClientFunctions } from '../../domain/client-tools.ts'
import { objectFromJsonText, parseOwnExactJson, parseOwnJson } from '../../domain/json.ts'
import { projectOf } from '../../domain/knowledge/project-files.ts'
import { maskSecrets } from '../../domain/mask-secrets.ts'
import { type AssistantRecord, type VectorStoreRecord, assistantRecord } from '../../domain/records/assistant.ts'
import { toArchivePart } from '../../domain/records/declared-record.ts'
import type { EvaluationRecord } from '../../domain/records/evaluation.ts'
import type { FeedbackRecord } from '../../domain/records/feedback.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import { type ProjectRecord, projectRecord } from '../../domain/records/project.ts'
import { type CompletionFacts, type RunRecord, runRecord } from '../../domain/records/run.ts'
import {
  type ScheduleAttachment,
  type ScheduleRecord,
  type ScheduleRunRecord,
  personOf,
} from '../../domain/records/schedule.ts'
import {
  type CheckpointRecord,
  type ThreadRecord,
  checkpointRecord,
  threadRecord,
} from '../../domain/records/thread.ts'
import type { ToolCallRecord } from '../../domain/records/tool-call.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { ResponseFacts } from '../../domain/responses/facts.ts'
import { type EntryRecord, attributesOf } from '../knowledge/entry-record.ts'

type OpenSummary = (projectId: string, sealed: string) => string | undefined
type Described = Omit<ScheduleAttachment, 'bytes'>
type AttachmentOwner = { created_at: Date } & ({ thread_id: string } | { schedule_id: string })

/** How each kind of record is written in an archive (docs/accounts.md). Names only what is meant to be exported. */
export const archived = {
  user: ({
    _id,
    email,
    provider,
    first_name,
    last_name,
    language,
    verified,
    thread_max,
    created_at,
    last_active_at,
  }: UserRecord) => ({
    user_id: _id,
    email,
    provider,
    first_name,
    last_name,
    language,
    verified,
    thread_max,
    created_at,
    last_active_at,
  }),

  project: (project: ProjectRecord) => ({
    project_id: project._id,
    ...toArchivePart(projectRecord.archive, project),
    name: project.name,
    updated_at: project.updated_at,
  }),

  /** `configText`: its configuration, unsealed; secrets in it are masked. */
  assistant: (assistant: AssistantRecord, configText: string) => ({
    assistant_id: assistant._id,
    ...toArchivePart(assistantRecord.archive, assistant),
    public: assistant.public,
    config: maskSecrets(objectFromJsonText(configText)),
    updated_at: assistant.updated_at,
  }),

  evaluation: ({ _id, questions, runs }: EvaluationRecord) => ({ assistant_id: _id, questions, runs }),

  vectorStore: ({ store, ...record }: VectorStoreRecord) => ({
    vector_store_id: record._id,
    ...toArchivePart(assistantRecord.archive, record),
    description: store.description,
    metadata: objectFromJsonText(store.metadata_json),
    expires_after_days: store.expires_after_days,
  }),

  vectorStoreFile: ({ assistant_id, source_id, chunking, created_at, ...entry }: EntryRecord) => ({
    vector_store_id: assistant_id,
    file_id: source_id,
    attributes: attributesOf(entry),
    chunking,
    created_at,
  }),

  thread: ({ _id, metadata_json, ...thread }: ThreadRecord) => ({
    thread_id: _id,
    ...toArchivePart(threadRecord.archive, thread),
    // Of a stored completion or a response.
    ...(thread.counted === false ? { counted: false } : {}),
    last_outcome: thread.last_outcome,
    metadata: objectFromJsonText(metadata_json),
  }),

  entry: (entry: CheckpointRecord) => ({
    entry_id: entry._id,
    ...toArchivePart(checkpointRecord.archive, entry),
    messages: parseOwnExactJson(entry.messages_json),
  }),

  /** `openSummary` opens the summary of a response. */
  run: (run: RunRecord, openSummary: OpenSummary) => ({
    run_id: run._id,
    ...toArchivePart(runRecord.archive, run),
    input: parseOwnExactJson(run.input_json),
    overrides: toOverrides(run.overrides),
    metadata: run.metadata_json === undefined ? undefined : objectFromJsonText(run.metadata_json),
    usage: run.usage,
    usage_by_model: run.usage_by_model,
    error: run.error,
    completion: run.completion && completionOf(run, run.completion),
    response: run.response_json === undefined ? undefined : responseOf(run.response_json, run.project_id, openSummary),
    asked_by: run.asked_by && {
      run_id: run.asked_by.run_id,
      thread_id: run.asked_by.thread_id,
      call_id: run.asked_by.call_id,
      root_run_id: run.asked_by.root_run_id,
      assistant_ids: run.asked_by.assistant_ids,
    },
  }),

  toolCall: ({ _id: _key, claimed_by: _by, args_json, ...call }: ToolCallRecord) => ({
    ...call,
    args: parseOwnExactJson(args_json),
  }),

  feedback: ({ _id, value_json, ...rest }: FeedbackRecord) => ({
    feedback_id: _id,
    ...rest,
    ...(value_json === undefined ? {} : { value: parseOwnJson(value_json) }),
  }),

  schedule: (schedule: ScheduleRecord) => ({
    schedule_id: schedule._id,
    project_id: schedule.project_id,
    assistant_id: schedule.assistant_id,
    thread_id: schedule.thread_id,
    input: parseOwnJson(schedule.input_json),
    cron: schedule.cron,
    interval_seconds: schedule.interval_seconds,
    at: schedule.at,
    timezone: schedule.timezone,
    jitter_seconds: schedule.jitter_seconds,
    start_at: schedule.start_at,
    end_at: schedule.end_at,
    max_runs: schedule.max_runs,
    overlap: schedule.overlap,
    catchup_seconds: schedule.catchup_seconds,
    paused: schedule.paused,
    pause_reason: schedule.pause_reason,
    note: schedule.note,
    mail_result: schedule.mail_result,
    made_by: schedule.made_by,
    person: personOf(schedule),
    runs_made: schedule.runs_made,
    created_at: schedule.created_at,
    updated_at: schedule.updated_at,
  }),

  scheduleRun: ({ _id: _key, user_id: _user, check_at: _check, ...run }: ScheduleRunRecord) => run,

  attachment: ({ _id, name, content_type, size, sha256 }: Described, { created_at, ...owner }: AttachmentOwner) => ({
    attachment_id: _id,
    ...owner,
    name,
    content_type,
    size,
    sha256,
    path: attachmentPathOf(_id),
    created_at,
  }),

  file: (file: FileRecord) => ({
    file_id: file._id,
    ...ownerOf(file),
    name: file.name,
    content_type: file.content_type,
    size: file.size,
    sha256: file.sha256,
    path: pathOf(file._id),
    created_at: file.created_at,
  }),
}

/** With the names of all functions of the client, because the functions of the request are not imported. */
function completionOf({ overrides }: RunRecord, { tags: _tags, client_tools: own = [], ...rest }: CompletionFacts) {
  const names = [...new Set([...own, ...readClientFunctions(overrides.tools_json).map(({ name }) => name)])]
  return { ...rest, ...(names.length === 0 ? {} : { client_tools: names }) }
}

/** The facts of a response that can be read, with its summary as text: only this project could open it. */
function responseOf(responseJson: string, projectId: string, openSummary: OpenSummary) {
  const { compaction, isUnstored, found_json: found, ...facts } = parseOwnJson<ResponseFacts>(responseJson)
  if (isUnstored) return undefined
  const summary = compaction === undefined ? undefined : openSummary(projectId, compaction)
  return {
    ...facts,
    ...(summary === undefined ? {} : { summary }),
    ...(found === undefined ? {} : { found: parseOwnJson(found) }),
  }
}

function ownerOf({ assistant_id: owner, purpose, expires_at }: FileRecord) {
  const project = projectOf(owner)
  return project === undefined ? { assistant_id: owner } : { project_id: project, purpose, expires_at }
}
/** The path of the bytes of an image, a sound or a file in a message. */
export const attachmentPathOf = (attachmentId: string) => `attachments/${attachmentId}`

/** The path of a file's bytes in the archive. */
export const pathOf = (fileId: string) => `files/${fileId}`

/** With JSON in place of its text, in the members that hold such text. */
function toOverrides(overrides: RunRecord['overrides']) {
  return Object.fromEntries(
    Object.entries({ ...overrides, added_tools_sealed: undefined }).map(([name, value]) =>
      name.endsWith('_json') ? [name.slice(0, -'_json'.length), parseOwnJson(String(value))] : [name, value],
    ),
  )
}
