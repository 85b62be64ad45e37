import Type from 'typebox'
import { type Acting, type Person, type ToolType, runOrigins } from '../acting.ts'
import { cutReasons } from '../messages.ts'
import type { reasoningEfforts } from '../reasoning-efforts.ts'
import type { RunErrorType } from '../run-errors.ts'
import { type RecordOf, StoredId, StoredTime, archivePart, declareRecord, mixedOf, textOf } from './declared-record.ts'

export const runStatuses = ['pending', 'running', 'interrupted', 'success', 'error', 'cancelled'] as const
export type RunStatus = (typeof runStatuses)[number]
export const openRunStatuses = ['pending', 'running', 'interrupted'] as const satisfies RunStatus[]

export function isOpenRun({ status }: Pick<RunRecord, 'status'>): boolean {
  return openRunStatuses.some((open) => open === status)
}

export type MultitaskStrategy = 'enqueue' | 'reject' | 'interrupt'

/** The four members of the `error` event. */
export interface RunError {
  status_code: number
  message: string
  type: RunErrorType
  details: string
}

/** Tokens, as a model's provider counted them, or estimated. */
export interface Usage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  /** Those of the question that the provider read from its cache. Absent: none, or not told. */
  cached_tokens?: number
  /** Those of the question that the provider wrote to its cache. Absent: none, or not told. */
  cache_write_tokens?: number
  /** Those of the answer with which the model thought. Absent: none, or not told. */
  reasoning_tokens?: number
}

/** Tokens that one model counted. */
export interface ModelUsage extends Usage {
  model: string
}

/** Tokens of an attempt whose answer is not stored: it broke off, was cancelled, or its process died. */
export interface SpentAttempt extends ModelUsage {
  step: number
  fence: number
}

/** What becomes of an answer that calls functions of the client: the run waits for their results, or ends. */
export const clientCallModes = ['wait', 'return'] as const
export type ClientCallMode = (typeof clientCallModes)[number]

/** Why a model ended its answer. */
const finishReasons = ['stop', 'tool_calls', ...cutReasons] as const

/** What a caller may override for one run. All of it is bounded where it enters. */
export interface RunOverrides {
  /** Instead of the assistant's model. */
  model?: string
  /** Instead of the assistant's instructions. */
  system_message?: string
  /** In addition to the instructions. */
  instructions?: string
  temperature?: number
  /** Tokens of one answer. */
  max_tokens?: number
  /** Tokens of all answers of the run together: the run ends when they are used up. */
  max_completion_tokens?: number
  /** Tokens of all questions of the run together. */
  max_prompt_tokens?: number
  /** The conversation before the run is cut to so many messages. */
  last_messages?: number
  /** The run fails if the conversation does not fit into the model's window. Default: it is cut. */
  truncation?: 'disabled'
  /** Calls of tools that the service executes, in the whole run. Further ones are not made. */
  max_tool_calls?: number
  /** The types of the assistant's own tools that may be used; default: all. */
  server_tools?: ToolType[]
  /**
   * Tools that the service executes in addition to the assistant's (`ToolSetting[]`), as sealed JSON text: they may hold
   * keys. The context of the seal is the run's id.
   */
  added_tools_sealed?: string
  /** A `SearchOverride` as JSON text. */
  search_json?: string
  /** A `CodeOverride` as JSON text. */
  code_json?: string
  /** Functions of the client (`ClientFunction[]`) as JSON text, in place of those of the assistant with these names. */
  tools_json?: string
  /** A `RunToolChoice` as JSON text. A tool that must be called is demanded of the first answer only. */
  tool_choice_json?: string
  /** Calls (`ApprovedCall[]`) as JSON text that are made before the model is asked. */
  approved_calls_json?: string
  parallel_tool_calls?: boolean
  /** Default: `wait`. */
  client_calls?: ClientCallMode
  /** A run that waits so long for the client ends with an error; default: it waits for ever. */
  client_calls_expire_seconds?: number
  reasoning_effort?: (typeof reasoningEfforts)[number]
  service_tier?: string
  verbosity?: 'low' | 'medium' | 'high'
  /** Who asks, for the model's server: names of an application's own users, and keys of its caches. */
  user?: string
  safety_identifier?: string
  prompt_cache_key?: string
  logprobs?: boolean
  top_logprobs?: number
  /** Biases by token, as JSON text. */
  logit_bias_json?: string
  top_p?: number
  seed?: number
  frequency_penalty?: number
  presence_penalty?: number
  stop?: string[]
  /** A `ResponseFormat` as JSON text: its schema may hold any key. */
  response_format_json?: string
}

/** The overrides that are passed to the model unchanged. */
export type SamplingParameters = Pick<
  RunOverrides,
  | 'top_p'
  | 'seed'
  | 'frequency_penalty'
  | 'presence_penalty'
  | 'stop'
  | 'reasoning_effort'
  | 'service_tier'
  | 'logprobs'
  | 'top_logprobs'
  | 'verbosity'
  | 'user'
  | 'safety_identifier'
  | 'prompt_cache_key'
>

/** What is kept of a request for chat completions, beside its run. */
export interface CompletionFacts {
  /** As the request named it. */
  model: string
  /** The runs of the other choices. */
  others?: { run_id: string; thread_id: string }[]
  /** Whether it is to be listed. */
  stored?: boolean
  /** The names of the assistant's own functions of the client, as they were then. */
  client_tools?: string[]
  /** The metadata as JSON texts of `[key, value]`, to filter by. */
  tags?: string[]
}

/** The fence with which a run is stored. It belongs to the process that stored it. */
export const firstFence = 1

/** Whether no attempt has taken the run over or stored anything of it, so that at most its first process has begun it. */
export function isUntouched({ fence, step_fence: stepFence }: Pick<RunRecord, 'fence' | 'step_fence'>): boolean {
  return fence <= firstFence && stepFence === undefined
}

/** What leads to a run's record: `runs` is sharded by `thread_id`. */
export type RunKey = Pick<RunRecord, '_id' | 'thread_id'>

/** The filter that selects one run, and asks one shard only. */
export const runKey = ({ _id, thread_id }: RunKey): RunKey => ({ _id, thread_id })

/** The call that a run answers. */
export interface ParentRun {
  run_id: string
  thread_id: string
  /** The id that the model gave the call. */
  call_id: string
  /** The outermost run, whose caller no assistant is. */
  root_run_id: string
  /** The assistants that wait for the answer, outermost first. */
  assistant_ids: string[]
  /** When the time of the asking run is over. */
  deadline_at?: Date
}

const Run = Type.Object({
  _id: StoredId,
  thread_id: StoredId,
  /** Who started it; of a public caller, the owner of the assistant. */
  user_id: StoredId,
  project_id: StoredId,
  assistant_id: StoredId,
  public: Type.Boolean(),
  /** Stored when the run starts, and inherited by whatever it starts. Read it by `actingOf`. */
  acting: Type.Object({ person: textOf<Person>(), origin: Type.Enum(runOrigins) }),
  /** The thread is another member's, who shares it with the project. */
  in_chat_of_other: Type.Optional(Type.Boolean()),
  status: Type.Enum(runStatuses),
  /** `Message[]` as JSON text. */
  input_json: Type.String({ minLength: 1 }),
  overrides: mixedOf<RunOverrides>(),
  /** Of a run that answers a request for chat completions on `/v1`. */
  completion: Type.Optional(mixedOf<CompletionFacts>()),
  /** Metadata that a caller of the compat family stores with the run, as JSON text. */
  metadata_json: Type.Optional(Type.String()),
  /** `ResponseFacts` as JSON text, if the run is a response of `/v1`. */
  response_json: Type.Optional(Type.String()),
  /**
   * The runs that make calls of this one which a person has allowed since, by the id of the message that asked and the
   * number of the call, as `{id}_{number}`.
   */
  allowed_calls: Type.Optional(mixedOf<Record<string, string>>()),
  /** It was such a response, which was removed while its items stay in a conversation, or later ones go on from them. */
  response_removed: Type.Optional(Type.Boolean()),
  /**
   * Fencing token: each attempt of a step takes the next number, and writes with an older number are neither stored
   * nor published. The first number belongs to the process that stored the run.
   */
  fence: Type.Integer(),
  /** The fence with which the newest answer was stored; attempts of the current step are counted from it. */
  step_fence: Type.Optional(Type.Integer()),
  usage: Type.Optional(mixedOf<Usage>()),
  /** The schedule that started it, when it was due or triggered. */
  schedule_id: Type.Optional(StoredId),
  /** Of a run in which an assistant answers another one: who asks. */
  asked_by: Type.Optional(mixedOf<ParentRun>()),
  /** The calls that ask other assistants, of this run and of the runs below it; only in the outermost run. */
  asking_calls: Type.Optional(Type.Array(Type.String())),
  /** The budgets in which the run is counted, if there are any. */
  budgets: Type.Optional(Type.Array(Type.String())),
  /** `usage` by the model that answered, if several did because of a fallback. */
  usage_by_model: Type.Optional(Type.Array(mixedOf<ModelUsage>())),
  /** Attempts without a stored answer, which are paid all the same; `usage` includes them when the run has ended. */
  spent: Type.Optional(Type.Array(mixedOf<SpentAttempt>())),
  /** The model that answered last. */
  model: Type.Optional(Type.String({ maxLength: 200 })),
  /** Why the model ended the last answer of a run that ended with success. */
  finish_reason: Type.Optional(Type.Enum(finishReasons)),
  /** When a run that waits for the client ends with an error. */
  expires_at: Type.Optional(StoredTime),
  /** Since when the run has waited for people or its client; set while it is interrupted. */
  waiting_since: Type.Optional(StoredTime),
  /** How long the run has waited for people or its client, in all. */
  waited_ms: Type.Optional(Type.Number()),
  /** Which tools were left out, and why, for the owner. */
  warnings: Type.Optional(Type.Array(Type.String())),
  /** From the creation of the run to the first token of its model. */
  first_token_ms: Type.Optional(Type.Number()),
  error: Type.Optional(mixedOf<RunError>()),
  /** What the model server said when it last failed; it becomes part of `error` if the run ends with that failure. */
  failure_details: Type.Optional(Type.String()),
  /** Trace context of the request that started the run (W3C), if requests are traced. */
  traceparent: Type.Optional(Type.String()),
  /** Set when Temporal has taken a run that waits for others on its thread; until its first step it is `pending`. */
  handed_over: Type.Optional(Type.Boolean()),
  /** Set when the run was handed to its thread a second time, in case the first hand-over was lost. */
  requeued: Type.Optional(Type.Boolean()),
  /** Came with an archive: nothing was executed here, so that no figure, cost or budget counts it. */
  imported: Type.Optional(Type.Boolean()),
  /**
   * When a worker next checks whether the run is still under way. It is also a lease: a worker that checks the run
   * first moves it forward. Runs that have ended and are settled have none.
   */
  check_at: Type.Optional(StoredTime),
  /**
   * A reader who has received an event with this id, or a later one, has all messages of the run; used when the
   * stream has expired. Set while the run waits for a person, and when it has ended.
   */
  last_data_event_id: Type.Optional(Type.String()),
  /** When a person's decision was written; removed when the thread has been told of it. */
  deciding_since: Type.Optional(StoredTime),
  created_at: StoredTime,
  /** When the run was stored, or the first step of one that waited for others was begun. */
  started_at: Type.Optional(StoredTime),
  finished_at: Type.Optional(StoredTime),
})

export const runRecord = declareRecord({
  model: 'Run',
  collection: 'runs',
  schema: Run,
  owners: ['thread_id'],
  removedLast: true,
  indexes: [
    // Ids are time-ordered.
    [{ thread_id: 1, _id: 1 }],
    [{ thread_id: 1, status: 1 }],
    [{ user_id: 1, _id: 1 }],
    [{ user_id: 1, project_id: 1 }, { partialFilterExpression: { in_chat_of_other: true } }],
    [{ status: 1 }],
    [{ check_at: 1 }, { sparse: true }],
    [{ project_id: 1, _id: 1 }, { partialFilterExpression: { 'completion.stored': true } }],
    [{ imported: 1, status: 1 }, { partialFilterExpression: { imported: true } }],
  ],
  archive: archivePart(Run, [
    'thread_id',
    'assistant_id',
    'status',
    'model',
    'finish_reason',
    'response_removed',
    'created_at',
    'started_at',
    'finished_at',
  ]),
})
export type RunRecord = RecordOf<typeof runRecord>

type StoredActing = Partial<Pick<RunRecord, 'acting'>> & Pick<RunRecord, 'public' | 'schedule_id' | 'asked_by'>

/** A run that a version without this member has stored is that of its owner only where nobody else can have asked. */
export function actingOf({
  acting,
  public: isPublic,
  schedule_id: scheduleId,
  asked_by: askedBy,
}: StoredActing): Acting {
  if (acting !== undefined) return acting
  if (askedBy !== undefined) return { person: 'nameless', origin: 'asked' }
  if (isPublic) return { person: 'nameless', origin: 'public' }
  return { person: 'owner', origin: scheduleId === undefined ? 'chat' : 'scheduled' }
}
