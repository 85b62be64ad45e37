import Type, { type Static } from 'typebox'
import { AnyKey, ShortKey } from '../any-key.ts'
import { maxChunkTokens } from '../chunking/chunker-options.ts'
import { attachmentLimits } from '../content-parts.ts'
import { requestLimits } from '../limits.ts'
import { Message, TokenUsage } from '../messages.ts'
import { Metadata } from '../metadata.ts'
import { assistantRecord } from '../records/assistant.ts'
import { evaluationLimits } from '../records/evaluation.ts'
import { projectRecord } from '../records/project.ts'
import { runRecord } from '../records/run.ts'
import { overlapPolicies, scheduleLimits } from '../records/schedule.ts'
import { checkpointRecord, threadRecord } from '../records/thread.ts'

/** The records of an archive, as `services/export/user-archive.ts` writes them. Other members are ignored. */
const id = Type.String({ minLength: 1, maxLength: 128 })
const name = Type.String({ maxLength: requestLimits.nameLength })
const time = Type.String({ pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$`, maxLength: 40 })
const freeForm = Type.Record(AnyKey, Type.Unknown())
const messages = Type.Array(Message, { maxItems: 10_000 })
const modelName = Type.String({ maxLength: 200 })
const number = Type.Optional(Type.Number())
const words = Type.String({ maxLength: requestLimits.configTextLength })

export const ArchivedProject = Type.Object({
  project_id: id,
  ...projectRecord.archive.part,
  name,
})
export const ArchivedAssistant = Type.Object({
  assistant_id: id,
  ...assistantRecord.archive.part,
  config: freeForm,
})
export const ArchivedThread = Type.Object({
  thread_id: id,
  ...threadRecord.archive.part,
  /** False: of a stored completion or a response. */
  counted: Type.Optional(Type.Literal(false)),
  last_outcome: Type.Optional(Type.Enum(['none', 'success', 'error'])),
  metadata: freeForm,
})
export const ArchivedEntry = Type.Object({
  /** Absent in archives of earlier versions. */
  entry_id: Type.Optional(id),
  ...checkpointRecord.archive.part,
  messages,
})
export const ArchivedOverrides = Type.Object({
  temperature: number,
  max_tokens: number,
  top_p: number,
  seed: number,
  frequency_penalty: number,
  presence_penalty: number,
  instructions: Type.Optional(words),
  stop: Type.Optional(Type.Array(words, { maxItems: requestLimits.configEntries })),
  response_format: Type.Optional(freeForm),
})
const listOfNames = (maxLength: number) => Type.Array(Type.String({ maxLength }), { maxItems: 2000 })
const toolName = Type.String({ maxLength: 200 })
/** Of a request for chat completions. */
export const ArchivedCompletion = Type.Object({
  model: name,
  others: Type.Optional(Type.Array(Type.Object({ run_id: id, thread_id: id }), { maxItems: 128 })),
  stored: Type.Optional(Type.Boolean()),
  client_tools: Type.Optional(listOfNames(requestLimits.nameLength)),
})
/** Of a response: see `domain/responses/facts.ts`. */
export const ArchivedResponse = Type.Object({
  model: name,
  instructions: Type.Optional(words),
  previous_response_id: Type.Optional(Type.String({ maxLength: 200 })),
  conversation_id: Type.Optional(id),
  continued_by: Type.Optional(id),
  background: Type.Optional(Type.Boolean()),
  context: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  functions: listOfNames(200),
  shapes: Type.Optional(
    Type.Array(
      Type.Tuple([
        toolName,
        Type.Union([
          Type.Object({ type: Type.Literal('function'), name: toolName, namespace: toolName }),
          Type.Object({ type: Type.Literal('custom'), name: toolName, namespace: Type.Optional(toolName) }),
          Type.Object({ type: Type.Enum(['local_shell', 'shell', 'apply_patch', 'tool_search']) }),
        ]),
      ]),
      { maxItems: 2000 },
    ),
  ),
  warnings: Type.Optional(
    Type.Array(
      Type.Object({ code: Type.Literal('tool_left_out'), message: name, param: Type.String({ maxLength: 200 }) }),
      { maxItems: 100 },
    ),
  ),
  container: Type.Optional(id),
  serverLabels: listOfNames(64),
  listed: Type.Optional(
    Type.Array(
      Type.Object({
        server_label: Type.String({ maxLength: 64 }),
        tools: Type.Array(
          Type.Object({
            name,
            description: words,
            input_schema: Type.Unknown(),
            annotations: Type.Union([freeForm, Type.Null()]),
          }),
          { maxItems: 2000 },
        ),
      }),
      { maxItems: 128 },
    ),
  ),
  approvals: Type.Optional(listOfNames(200)),
  approved: Type.Optional(
    Type.Array(Type.Tuple([Type.String({ maxLength: 200 }), Type.String({ maxLength: 200 })]), { maxItems: 1000 }),
  ),
  summary: Type.Optional(Type.String({ maxLength: requestLimits.messageLength })),
  /** Tools that the input has brought; checked where they are used. */
  found: Type.Optional(Type.Array(Type.Object({ type: Type.String({ maxLength: 64 }) }), { maxItems: 2000 })),
  shown: freeForm,
})
export const ArchivedRun = Type.Object({
  run_id: id,
  ...runRecord.archive.part,
  input: messages,
  overrides: Type.Optional(ArchivedOverrides),
  metadata: Type.Optional(freeForm),
  usage: Type.Optional(TokenUsage),
  usage_by_model: Type.Optional(
    Type.Array(Type.Object({ ...TokenUsage.properties, model: modelName }), { maxItems: 100 }),
  ),
  error: Type.Optional(
    Type.Object({
      status_code: Type.Integer({ minimum: 100, maximum: 599 }),
      message: Type.String({ maxLength: 10_000 }),
      type: Type.String({ maxLength: 100 }),
      details: Type.String({ maxLength: 100_000 }),
    }),
  ),
  completion: Type.Optional(ArchivedCompletion),
  response: Type.Optional(ArchivedResponse),
  asked_by: Type.Optional(
    Type.Object({
      run_id: id,
      thread_id: id,
      call_id: Type.String({ maxLength: 1000 }),
      root_run_id: id,
      assistant_ids: Type.Array(id, { maxItems: 10 }),
    }),
  ),
})
export const ArchivedToolCall = Type.Object({
  run_id: id,
  step: Type.Integer({ minimum: 0, maximum: 10_000 }),
  index: Type.Integer({ minimum: 0, maximum: 10_000 }),
  call_id: Type.String({ maxLength: 1000 }),
  name: Type.String({ maxLength: 1000 }),
  args: Type.Unknown(),
  status: Type.Enum(['waiting', 'claimed', 'done']),
  result: Type.Optional(Type.String()),
  failed: Type.Optional(Type.Boolean()),
  asked: Type.Optional(Type.Object({ assistant_id: id, run_id: id, thread_id: id })),
  decision: Type.Optional(
    Type.Object({
      action: Type.Enum(['approve', 'reject', 'edit']),
      message: Type.Optional(Type.String({ maxLength: requestLimits.textLength })),
    }),
  ),
  created_at: time,
  finished_at: Type.Optional(time),
})
export const ArchivedFeedback = Type.Object({
  feedback_id: id,
  run_id: id,
  key: Type.String({ minLength: 1, maxLength: 180 }),
  score: Type.Optional(Type.Union([Type.Number(), Type.Boolean()])),
  value: Type.Optional(Type.Object({ value: Type.Unknown() })),
  comment: Type.Optional(Type.String({ maxLength: 10_000 })),
  created_at: time,
})
export const ArchivedVectorStore = Type.Object({
  vector_store_id: id,
  ...assistantRecord.archive.part,
  description: Type.Optional(Type.String({ maxLength: 512 })),
  metadata: Metadata,
  expires_after_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365 })),
})
export const ArchivedVectorStoreFile = Type.Object({
  vector_store_id: id,
  file_id: id,
  attributes: Type.Record(ShortKey, Type.Union([Type.String({ maxLength: 512 }), Type.Number(), Type.Boolean()]), {
    maxProperties: 16,
    additionalProperties: false,
  }),
  chunking: Type.Optional(
    Type.Object({
      max_tokens: Type.Integer({ minimum: 100, maximum: maxChunkTokens }),
      overlap_tokens: Type.Integer({ minimum: 0, maximum: maxChunkTokens / 2 }),
    }),
  ),
  created_at: time,
})
export const ArchivedSchedule = Type.Object({
  schedule_id: id,
  project_id: id,
  assistant_id: id,
  thread_id: Type.Optional(id),
  input: Type.Array(Message, { minItems: 1, maxItems: requestLimits.messages }),
  cron: Type.Optional(Type.String({ maxLength: scheduleLimits.cronLength })),
  interval_seconds: Type.Optional(Type.Integer(scheduleLimits.interval_seconds)),
  at: Type.Optional(time),
  timezone: Type.String({ minLength: 1, maxLength: scheduleLimits.timezoneLength }),
  jitter_seconds: Type.Integer(scheduleLimits.jitter_seconds),
  start_at: Type.Optional(time),
  end_at: Type.Optional(time),
  max_runs: Type.Optional(Type.Integer(scheduleLimits.max_runs)),
  overlap: Type.Enum([...overlapPolicies]),
  catchup_seconds: Type.Integer(scheduleLimits.catchup_seconds),
  note: name,
  /** For whom its runs work; absent: the owner. */
  person: Type.Optional(Type.String({ maxLength: 100 })),
  runs_made: Type.Integer({ minimum: 0, maximum: scheduleLimits.max_runs.maximum }),
  created_at: time,
})
const evaluated = Type.String({ minLength: 1, maxLength: 64 })
export const ArchivedEvaluation = Type.Object({
  assistant_id: id,
  questions: Type.Array(
    Type.Object({
      question_id: evaluated,
      question: Type.String({ minLength: 1, maxLength: evaluationLimits.questionLength }),
      file_name: Type.String({ minLength: 1, maxLength: evaluationLimits.nameLength }),
      page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    }),
    { maxItems: evaluationLimits.questions },
  ),
  runs: Type.Array(
    Type.Object({
      created_at: time,
      embedding_model: Type.String({ maxLength: requestLimits.nameLength }),
      files: Type.Integer({ minimum: 0 }),
      places: Type.Array(Type.Object({ question_id: evaluated, place: Type.Integer({ minimum: 0, maximum: 1000 }) }), {
        maxItems: evaluationLimits.questions,
      }),
    }),
    { maxItems: evaluationLimits.runs },
  ),
})
/** Of an assistant or of a project. */
export const ArchivedFile = Type.Object({
  file_id: id,
  assistant_id: Type.Optional(id),
  project_id: Type.Optional(id),
  purpose: Type.Optional(Type.String({ maxLength: 64 })),
  expires_at: Type.Optional(time),
  name: Type.String({ minLength: 1, maxLength: 512 }),
  content_type: Type.String({ maxLength: 1000 }),
  path: Type.String({ pattern: '^files/[A-Za-z0-9._~-]{1,90}$' }),
})
/** The bytes of a part of a message. Those of other owners than threads are not imported. */
export const ArchivedAttachment = Type.Object({
  attachment_id: id,
  thread_id: Type.Optional(id),
  name: Type.String({ maxLength: requestLimits.nameLength }),
  size: Type.Integer({ minimum: 1, maximum: attachmentLimits.user.bytes }),
  path: Type.String({ pattern: '^attachments/[A-Za-z0-9._~-]{1,80}$' }),
  created_at: time,
})
export const Manifest = Type.Object({ format: Type.Literal('assistant-platform-user'), version: Type.Literal(1) })

export type ArchivedProject = Static<typeof ArchivedProject>
export type ArchivedAssistant = Static<typeof ArchivedAssistant>
export type ArchivedVectorStore = Static<typeof ArchivedVectorStore>
export type ArchivedVectorStoreFile = Static<typeof ArchivedVectorStoreFile>
export type ArchivedThread = Static<typeof ArchivedThread>
export type ArchivedEntry = Static<typeof ArchivedEntry>
export type ArchivedCompletion = Static<typeof ArchivedCompletion>
export type ArchivedResponse = Static<typeof ArchivedResponse>
export type ArchivedRun = Static<typeof ArchivedRun>
export type ArchivedToolCall = Static<typeof ArchivedToolCall>
export type ArchivedFeedback = Static<typeof ArchivedFeedback>
export type ArchivedSchedule = Static<typeof ArchivedSchedule>
export type ArchivedEvaluation = Static<typeof ArchivedEvaluation>
export type ArchivedAttachment = Static<typeof ArchivedAttachment>
export type ArchivedFile = Static<typeof ArchivedFile>
