import Type, { type Static } from 'typebox'
import { ClientFunction, ToolChoice, maxClientFunctions } from '../../../domain/client-tools.ts'
import { eventIdPattern } from '../../../domain/ids.ts'
import { objectFromJsonText } from '../../../domain/json.ts'
import { requestLimits } from '../../../domain/limits.ts'
import { Message, RunMessageInput, TokenUsage } from '../../../domain/messages.ts'
import type { ModelPrices } from '../../../domain/model-prices.ts'
import { reasoningEfforts } from '../../../domain/reasoning-efforts.ts'
import { clientCallModes, runStatuses } from '../../../domain/records/run.ts'
import type { ToolCallRecord } from '../../../domain/records/tool-call.ts'
import { modelNameMax } from '../../../domain/served-models.ts'
import { knownCost } from '../../../services/budgets/cost-of-run.ts'
import type { ListedRun } from '../../../services/runs/index.ts'
import { BeforeMessage, PathId, Timestamp, freeForm, nullable } from '../schemas.ts'

const messages = Type.Array(RunMessageInput, { minItems: 1, maxItems: requestLimits.messages })

export const RunInput = Type.Union([messages, Type.Object({ messages })], {
  title: 'RunInput',
  about: 'The messages that the run begins with.',
  description: 'The messages that the run begins with.',
})

export const Configurable = Type.Object(
  {
    assistant_id: Type.Optional(PathId),
    thread_id: Type.Optional(PathId),
    user_id: Type.Optional(
      Type.String({
        maxLength: requestLimits.foreignIdLength,
        description: 'Ignored: the token identifies the user.',
      }),
    ),
  },
  { title: 'Configurable', about: 'Ids of a run, beside those at the top level; they must agree.' },
)

const StreamMode = Type.Enum(['messages', 'deltas'], {
  title: 'StreamMode',
  about: 'What the `data` events of a stream carry.',
  description: 'What `data` events carry: messages that changed, whole (the default), or the text that was added.',
})
export type StreamMode = Static<typeof StreamMode>

export const StreamQuery = Type.Object({ stream_mode: Type.Optional(StreamMode) })

export const CreateRunPayload = Type.Object(
  {
    thread_id: Type.Optional(PathId),
    assistant_id: Type.Optional(PathId),
    input: RunInput,
    config: Type.Optional(
      Type.Object({
        configurable: Type.Optional(Configurable),
      }),
    ),
    multitask_strategy: Type.Optional(
      Type.Enum(['enqueue', 'reject', 'interrupt'], {
        title: 'MultitaskStrategy',
        about: 'What to do while another run is open on the thread.',
        description:
          'What to do while another run is open on the thread: wait for it (the default), answer 409, or cancel it.',
      }),
    ),
    stream_mode: Type.Optional(StreamMode),
    model: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: modelNameMax,
        description: "Answers in place of the assistant's model, such as one of `GET /user/models`.",
      }),
    ),
    reasoning_effort: Type.Optional(
      Type.Enum([...reasoningEfforts], {
        title: 'RunReasoningEffort',
        about: 'How hard the model thinks in a run.',
        description: 'How hard the model thinks in this run; default: as the assistant says.',
      }),
    ),
    instructions: Type.Optional(
      Type.String({
        maxLength: requestLimits.runInstructionsLength,
        description: 'Added to the instructions of the assistant in this run.',
      }),
    ),
    file_ids: Type.Optional(
      Type.Array(PathId, {
        maxItems: requestLimits.runFiles,
        description: 'Of the files of the assistant, only these are searched in this run.',
      }),
    ),
    temperature: Type.Optional(
      Type.Number({ minimum: 0, maximum: 2, description: 'Of this run; default: as the assistant says.' }),
    ),
    tools: Type.Optional(
      Type.Array(ClientFunction, {
        maxItems: maxClientFunctions,
        description: 'Functions of the client that the model may call in this run, beside the tools of the assistant.',
      }),
    ),
    tool_choice: Type.Optional(ToolChoice),
    parallel_tool_calls: Type.Optional(
      Type.Boolean({ description: 'Whether one answer may make several calls; default: as the model does.' }),
    ),
    client_calls: Type.Optional(
      Type.Enum([...clientCallModes], {
        title: 'ClientCallMode',
        about: 'What an answer does that calls functions of the client.',
        description:
          'What an answer does that calls functions of the client: the run waits for their results (the default), or ends; then the next run brings them.',
      }),
    ),
    client_calls_expire_seconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 31_536_000,
        description: 'A run that waits so long for the client ends with an error; default: never.',
      }),
    ),
  },
  { title: 'CreateRunPayload', about: 'A run: its assistant, thread and input.' },
)
export type CreateRunPayload = Static<typeof CreateRunPayload>

export const RunError = Type.Object(
  { status_code: Type.Integer(), message: Type.String(), type: Type.String(), details: Type.String() },
  { title: 'RunError', about: 'The error of a run; the data of the `error` event.' },
)

export const Run = Type.Object(
  {
    run_id: Type.String(),
    thread_id: Type.String(),
    assistant_id: Type.String(),
    status: Type.Enum([...runStatuses], { title: 'RunStatus' }),
    created_at: Timestamp,
    started_at: Type.Union([Timestamp, Type.Null()]),
    finished_at: Type.Union([Timestamp, Type.Null()]),
    error: Type.Union([RunError, Type.Null()]),
    usage: Type.Union([TokenUsage, Type.Null()]),
    model: nullable(Type.String({ description: 'The model that gave the last answer.' })),
    cost: nullable(Type.Number({ description: 'At the prices of now; null if a model has no price.' })),
    currency: Type.String({ description: 'Of `cost`.' }),
    finish_reason: Type.Union(
      [
        Type.Enum(['stop', 'length', 'content_filter', 'tool_calls'], {
          title: 'FinishReason',
          about: 'Why a model ended its answer.',
        }),
        Type.Null(),
      ],
      { description: 'Why the model ended the last answer of a run that ended with success.' },
    ),
    expires_at: Type.Union([Timestamp, Type.Null()], {
      description: 'When a run that waits for its client ends with an error.',
    }),
    parent_run_id: Type.Optional(
      Type.String({ description: 'Of a run in which an assistant answers another one: the run that asks.' }),
    ),
    parent_call_id: Type.Optional(Type.String({ description: 'The call of that run which this run answers.' })),
    waited_ms: Type.Optional(
      Type.Integer({
        description:
          'Milliseconds between `started_at` and `finished_at` in which the run waited for decisions or for its client.',
      }),
    ),
    warnings: Type.Optional(
      Type.Array(Type.String(), { description: 'Which tools of the assistant were left out, each with its reason.' }),
    ),
  },
  { title: 'Run', about: 'A run.' },
)

export const WaitingCall = Type.Object(
  {
    tool_call_id: Type.String(),
    name: Type.String(),
    args: freeForm('The arguments.'),
    waits_for: Type.Enum(['decision', 'output', 'others'], {
      title: 'WaitsFor',
      about: 'For what a call waits.',
      description: 'A decision, the result of the client, or (decided already) the other calls.',
    }),
  },
  { title: 'WaitingCall', about: 'A call for which a run waits.' },
)

export const RunWithOutput = Type.Intersect(
  [
    Run,
    Type.Object({
      output: Type.Array(Message),
      waiting_calls: Type.Array(WaitingCall, {
        description: 'The calls for which an interrupted run waits.',
      }),
      omitted_messages: Type.Optional(
        Type.Integer({
          description:
            'How many older messages did not fit into the answer. To read them, call `GET /runs/{run_id}?before=` with the id of the first message shown.',
        }),
      ),
    }),
  ],
  { title: 'RunWithOutput', about: 'A run and the messages that it produced.' },
)

export const RunOutputPart = Type.Object({ before: BeforeMessage })

export const RunList = Type.Object(
  { runs: Type.Array(Run), limit: Type.Integer(), offset: Type.Integer() },
  { title: 'RunList', about: 'A page of runs.' },
)

export const RunParams = Type.Object({ run_id: PathId })

export const ResumeHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({
      pattern: eventIdPattern,
      maxLength: 31,
      description: 'The last event received; the events after it are sent.',
    }),
  ),
})

export const ResumePayload = Type.Object(
  {
    action: Type.Optional(
      Type.Enum(['approve', 'reject', 'edit'], {
        title: 'ToolDecision',
        about: 'What a person decides about a tool call.',
        description: 'A decision about calls that wait for approval. Required without `tool_outputs`.',
      }),
    ),
    tool_outputs: Type.Optional(
      Type.Array(
        Type.Object({
          tool_call_id: Type.String({ maxLength: requestLimits.foreignIdLength }),
          output: Type.String({ maxLength: requestLimits.messageLength }),
        }),
        {
          minItems: 1,
          maxItems: requestLimits.toolCalls,
          description: 'Results of functions of the client, all of them or some. Not together with a decision.',
        },
      ),
    ),
    tool_call_id: Type.Optional(
      Type.String({
        maxLength: requestLimits.foreignIdLength,
        description: 'The call to decide about; default: all that wait.',
      }),
    ),
    args: Type.Optional(freeForm('The arguments to use instead, with `edit`.')),
    message: Type.Optional(Type.String({ maxLength: 10_000, description: 'What the model is told, with `reject`.' })),
  },
  { title: 'ResumeRunPayload', about: "A person's decision about the tool calls for which a run waits." },
)

/** `prices`: those of now. */
export function toRun(run: ListedRun, prices: ModelPrices): Static<typeof Run> {
  return {
    run_id: run._id,
    thread_id: run.thread_id,
    assistant_id: run.assistant_id,
    status: run.status,
    created_at: run.created_at.toISOString(),
    started_at: run.started_at?.toISOString() ?? null,
    finished_at: run.finished_at?.toISOString() ?? null,
    error: run.error ?? null,
    usage: run.usage ?? null,
    model: run.model ?? null,
    cost: knownCost(prices, run),
    currency: prices.currency,
    finish_reason: run.finish_reason ?? null,
    expires_at: run.expires_at?.toISOString() ?? null,
    ...(run.waited_ms ? { waited_ms: run.waited_ms } : {}),
    ...(run.warnings ? { warnings: run.warnings } : {}),
    ...(run.asked_by ? { parent_run_id: run.asked_by.run_id, parent_call_id: run.asked_by.call_id } : {}),
  }
}

export function toWaitingCall(call: ToolCallRecord): Static<typeof WaitingCall> {
  return {
    tool_call_id: call.call_id,
    name: call.name,
    args: objectFromJsonText(call.args_json),
    waits_for: call.client ? 'output' : call.decision === undefined ? 'decision' : 'others',
  }
}
