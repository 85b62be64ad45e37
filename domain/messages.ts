import Type, { type Static, type TProperties } from 'typebox'
import { AnyKey } from './any-key.ts'
import { ContentPartInput, FileOfMessage, MessagePart } from './content-parts.ts'
import { newId } from './ids.ts'
import { parseOwnExactJson } from './json.ts'
import { requestLimits } from './limits.ts'
import { CallOutputType, CallShape } from './responses/call-shape.ts'

/** Of a call that asks another assistant: the run in which it answers. They are known before that run is started. */
const delegationMembers = { run_id: Type.Optional(Type.String()), thread_id: Type.Optional(Type.String()) }

/**
 * A call of a tool that the model asks for. `args` is free-form and round-trips exactly: its numbers are written with the
 * digits that the model wrote (`parseExactJson`).
 */
export const ToolCall = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    args: Type.Record(AnyKey, Type.Unknown()),
    type: Type.Literal('tool_call'),
    model_id: Type.Optional(
      Type.String({
        description: 'The id that the model gave the call, if it gave another call of the answer the same.',
      }),
    ),
    /** How a client has given it, if not as the call of a plain function. */
    shape: Type.Optional(CallShape),
    ...delegationMembers,
  },
  {
    title: 'ToolCall',
    about:
      'A tool call that the model asks for. If it asks another assistant, `run_id` and `thread_id` name the run that answers; a question that was refused has none.',
  },
)
export type ToolCall = Static<typeof ToolCall>

/** The model numbers the calls of one answer from 0. */
export const maxCallIndex = 127

/** Tokens, as the model's provider counted them. */
export const TokenUsage = Type.Object(
  {
    prompt_tokens: Type.Integer(),
    completion_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
    cached_tokens: Type.Optional(
      Type.Integer({ description: "Of `prompt_tokens`, read from the provider's cache, if it told." }),
    ),
    cache_write_tokens: Type.Optional(
      Type.Integer({ description: "Of `prompt_tokens`, written to the provider's cache, if it told." }),
    ),
    reasoning_tokens: Type.Optional(
      Type.Integer({ description: 'Of `completion_tokens`, with which the model thought, if its provider told.' }),
    ),
  },
  { title: 'TokenUsage', about: 'Tokens, as the model provider counted them.' },
)

const logprob = {
  token: Type.String(),
  logprob: Type.Number(),
  bytes: Type.Union([Type.Array(Type.Integer()), Type.Null()]),
}

/** How probable a token was to the model, and which others were. */
export const TokenLogprob = Type.Object(
  { ...logprob, top_logprobs: Type.Array(Type.Object(logprob)) },
  { title: 'TokenLogprob', about: 'A token with its probability, and the most probable others in its place.' },
)
export type TokenLogprob = Static<typeof TokenLogprob>

/** Why a model stopped before the end of its answer. */
export const cutReasons = ['length', 'content_filter'] as const
export type CutReason = (typeof cutReasons)[number]

const shared = { id: Type.String(), content: Type.String(), name: Type.Optional(Type.String()) }
const aiMembers = {
  ...shared,
  tool_calls: Type.Optional(Type.Array(ToolCall)),
  usage: Type.Optional(TokenUsage),
  /** Set on a partial answer whose run failed or was cancelled. */
  incomplete: Type.Optional(Type.Boolean()),
}
/** Members that only stored messages have. */
const kept = {
  /** Metadata that a caller of the compat family stores with a message. */
  metadata: Type.Optional(Type.Record(AnyKey, Type.Unknown())),
  /** Files that came with it on `/v1`, which its thread's vector store has. */
  attachments: Type.Optional(Type.Array(FileOfMessage)),
  /** Its content was deleted, everywhere; what is left keeps its place. */
  deleted: Type.Optional(Type.Boolean()),
}
/** `content` is then the text of all parts, joined. */
const withParts = { parts: Type.Optional(Type.Array(MessagePart)) }
/** Of a person's message in a thread that a project sees: who has sent it. The service sets it. */
const authored = {
  author_id: Type.Optional(Type.String({ description: 'Who sent it, in a chat of a project.' })),
}
/** Members that begin another version of what follows a message. */
const versioned = {
  after: Type.Optional(
    Type.Union([Type.String({ maxLength: 200 }), Type.Null()], {
      description:
        'The id of the message that this one follows, if that is not the newest: what followed it becomes an earlier version. Null, or an id that the thread does not have: it is the first.',
    }),
  ),
}
const storedOfAnswers = {
  ...kept,
  /** Set on an answer that the model cut off. */
  cut: Type.Optional(
    Type.Enum([...cutReasons], { title: 'CutReason', about: 'Why a model stopped before its answer was complete.' }),
  ),
  /** What the model said instead of an answer. */
  refusal: Type.Optional(Type.String()),
  /** What the model thought before it answered. */
  reasoning: Type.Optional(Type.String()),
  /** How long it thought, from the first piece to the last; absent below one second. */
  reasoning_seconds: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Of the tokens of the answer, if its run asked for them. */
  logprobs: Type.Optional(Type.Array(TokenLogprob)),
}
const toolMembers = {
  ...shared,
  tool_call_id: Type.String(),
  /** Files that the tool has written. */
  parts: Type.Optional(Type.Array(MessagePart)),
  /** The kind of item that has brought it, if that is not the output of a function. */
  output_type: Type.Optional(CallOutputType),
  /** A person did not allow the call. */
  rejected: Type.Optional(Type.Boolean()),
  /** The tool gave no answer; `content` says why. */
  failed: Type.Optional(Type.Boolean()),
  /** Of an answer that another assistant gave. */
  asked: Type.Optional(
    Type.Object(
      { assistant_id: Type.String(), run_id: Type.String(), thread_id: Type.String() },
      { title: 'AskedRun', about: 'The run in which another assistant answered a call, and its thread.' },
    ),
  ),
}
const message = <const T extends string, D extends TProperties>(
  type: T,
  data: D,
  name: { title: string; about: string },
) => Type.Object({ type: Type.Literal(type), data: Type.Object(data) }, name)

/** A message as it is stored and returned. */
export const Message = Type.Union(
  [
    message(
      'HumanMessage',
      { ...shared, ...kept, ...withParts, ...versioned, ...authored },
      { title: 'HumanMessage', about: 'A message of the user, stored.' },
    ),
    message(
      'AIMessage',
      { ...aiMembers, ...storedOfAnswers },
      { title: 'AIMessage', about: 'A message of the model, stored; `tool_calls` are the calls that it asks for.' },
    ),
    message('ToolMessage', toolMembers, { title: 'ToolMessage', about: 'The result of a tool call, stored.' }),
    message('SystemMessage', shared, { title: 'SystemMessage', about: 'An instruction to the model, stored.' }),
  ],
  { title: 'Message', about: 'A stored message.' },
)
export type Message = Static<typeof Message>
/** Text that was added to an assistant's message, or to its `reasoning`, in streams of mode `deltas`. */
export const MessageDelta = Type.Object(
  {
    type: Type.Literal('AIMessageDelta'),
    data: Type.Object({ id: Type.String(), content: Type.String(), reasoning: Type.Optional(Type.String()) }),
  },
  { title: 'AIMessageDelta', about: 'Text that was added to the message of this id, in a stream of mode `deltas`.' },
)
export type MessageDelta = Static<typeof MessageDelta>

export type AIMessage = Extract<Message, { type: 'AIMessage' }>

const flatTypes = { human: 'HumanMessage', ai: 'AIMessage', system: 'SystemMessage' } as const

const foreignId = Type.String({ maxLength: requestLimits.foreignIdLength })
const inputMembers = {
  id: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  content: Type.String({ maxLength: requestLimits.messageLength }),
  name: Type.Optional(Type.String({ maxLength: requestLimits.nameLength })),
}
const { args, type } = ToolCall.properties
const ToolCallInput = Type.Object(
  { id: foreignId, name: Type.String({ maxLength: requestLimits.nameLength }), args, type },
  { title: 'ToolCallInput', about: 'A tool call as callers send it.' },
)
const aiInputMembers = {
  ...inputMembers,
  tool_calls: Type.Optional(Type.Array(ToolCallInput, { maxItems: requestLimits.toolCalls })),
  usage: Type.Optional(TokenUsage),
  incomplete: Type.Optional(Type.Boolean()),
}

/** The flat form of an input item. */
export const FlatMessageInput = Type.Object(
  {
    type: Type.Enum(['human', 'ai', 'system'], { title: 'FlatMessageType', about: 'Who a message is from.' }),
    ...inputMembers,
  },
  { title: 'FlatMessageInput', about: 'A message in the flat form.' },
)

/** A message that callers may send: in the flat form, or in the stored form without a required id. */
export const MessageInput = Type.Union(
  [
    FlatMessageInput,
    message(
      'HumanMessage',
      { ...inputMembers, ...versioned },
      { title: 'HumanMessageInput', about: 'A message of the user as callers send it.' },
    ),
    message('AIMessage', aiInputMembers, {
      title: 'AIMessageInput',
      about: 'A message of the model as callers send it.',
    }),
    message(
      'ToolMessage',
      { ...inputMembers, tool_call_id: foreignId },
      { title: 'ToolMessageInput', about: 'The result of a tool call as callers send it.' },
    ),
    message('SystemMessage', inputMembers, {
      title: 'SystemMessageInput',
      about: 'An instruction to the model as callers send it.',
    }),
  ],
  {
    title: 'MessageInput',
    about: 'A message as callers send it: in the flat form, or in the stored form without an id.',
  },
)
export type MessageInput = Static<typeof MessageInput>

const partsOrText = Type.Union([
  inputMembers.content,
  Type.Array(ContentPartInput, { minItems: 1, maxItems: requestLimits.messages }),
])
const inParts = { ...inputMembers, content: partsOrText }
const [, , ...otherInputs] = MessageInput.anyOf

/** A message with which a run begins: as `MessageInput`, but a person's message may have parts. */
export const RunMessageInput = Type.Union(
  [
    Type.Object(
      { ...FlatMessageInput.properties, ...inParts },
      { title: 'FlatRunMessageInput', about: 'A message in the flat form, with which a run begins.' },
    ),
    message(
      'HumanMessage',
      { ...inParts, ...versioned },
      { title: 'HumanRunMessageInput', about: 'A message of the user with which a run begins: text, or parts.' },
    ),
    ...otherInputs,
  ],
  {
    title: 'RunMessageInput',
    about: 'A message with which a run begins; that of a person may have images, sounds and files.',
  },
)
export type RunMessageInput = Static<typeof RunMessageInput>

/**
 * Converts an input message to its stored form: flat forms are expanded, a missing id is generated, unknown members
 * are dropped.
 */
export function normaliseMessage(input: MessageInput): Message {
  switch (input.type) {
    case 'human':
    case 'ai':
    case 'system':
      return { type: flatTypes[input.type], data: basics(input) }
    case 'HumanMessage': {
      const { after } = input.data
      return { type: input.type, data: { ...basics(input.data), ...(after === undefined ? {} : { after }) } }
    }
    case 'SystemMessage':
      return { type: input.type, data: basics(input.data) }
    case 'AIMessage': {
      const { tool_calls: calls, usage } = input.data
      const toolCalls = calls?.map(({ id, name, args }) => ({ id, name, args, type: 'tool_call' as const }))
      return {
        type: input.type,
        data: { ...basics(input.data), ...(toolCalls && { tool_calls: toolCalls }), ...(usage && { usage }) },
      }
    }
    case 'ToolMessage':
      return { type: input.type, data: { ...basics(input.data), tool_call_id: input.data.tool_call_id } }
  }
}

function basics({ id, content, name }: { id?: string; content: string; name?: string }) {
  return { id: id ?? newId(), content, ...(name === undefined ? {} : { name }) }
}

/** The messages as a person sends them in a thread that others see. */
export function authoredBy(userId: string, messages: readonly Message[]): Message[] {
  return messages.map((message) =>
    message.type === 'HumanMessage' ? { ...message, data: { ...message.data, author_id: userId } } : message,
  )
}

/** Whether the last message of a conversation is an answer whose tools must be called before the next one. */
export function callsTools(last: Message | undefined): boolean {
  return last?.type === 'AIMessage' && (last.data.tool_calls ?? []).length > 0
}

/** Stored messages of another installation, without the ids of who has sent them there. */
export function withoutAuthors(json: string): string {
  if (!json.includes('"author_id"')) return json
  return JSON.stringify(
    storedMessagesFromJson(json).map((message) => {
      if (message.type !== 'HumanMessage') return message
      const { author_id: _author, ...data } = message.data
      return { ...message, data }
    }),
  )
}

/** Messages as the JSON text in which records hold them. */
export function messagesToJson(messages: readonly Message[]): string {
  return JSON.stringify(messages)
}

/** Found in the output of `messagesToJson` if a system message is in it; a tool's arguments can look like one. */
export const systemMessageInJson = /"type":"SystemMessage"/

/** Found in the output of `messagesToJson` if a person's message is in it; a tool's arguments can look like one. */
export const personsMessageInJson = '"type":"HumanMessage"'

/**
 * Reads the output of `messagesToJson`, without what only a provider reads. It is our own text, so it is not validated
 * again.
 */
export function messagesFromJson(json: string): Message[] {
  const messages = storedMessagesFromJson(json)
  return json.includes('"provider_metadata"') ? messages.map(withoutMetadata) : messages
}

/** As `messagesFromJson`, with everything that is stored: for models, and for what is stored again. */
export function storedMessagesFromJson(json: string): StoredMessage[] {
  return parseOwnExactJson<StoredMessage[]>(json)
}

/**
 * A message with what its provider must get back unchanged (signatures of thoughts, for example): a sealed text, which
 * no caller is shown.
 */
export type StoredMessage = Message & { data: { provider_metadata?: string } }

export function withoutMetadata(message: StoredMessage): Message {
  if (message.type !== 'AIMessage' || message.data.provider_metadata === undefined) return message
  const { provider_metadata: _metadata, ...data } = message.data
  return { ...message, data }
}
