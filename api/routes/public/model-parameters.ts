import Type from 'typebox'
import type { Acting, Person } from '../../../domain/acting.ts'
import { invalidInput } from '../../../domain/errors.ts'
import { checkFreeForm } from '../../../domain/foreign-json.ts'
import { isJsonObject } from '../../../domain/json.ts'
import { requestLimits } from '../../../domain/limits.ts'
import { reasoningEfforts } from '../../../domain/reasoning-efforts.ts'
import type { RunOverrides } from '../../../domain/records/run.ts'
import { ResponseFormat } from '../../../domain/response-format.ts'
import type { Caller } from '../../../services/owner.ts'
import { memberNamed, personNamed } from '../../../services/person-named.ts'
import { nullable } from '../schemas.ts'

const maxFormatBytes = 64 * 1024
const tokenLimit = Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })))
const penalty = Type.Optional(nullable(Type.Number({ minimum: -2, maximum: 2 })))
const stopText = Type.String({ minLength: 1, maxLength: 500 })

/** The model parameters that a request may set, in both APIs. */
/** Other keys are refused. */
const tokenId = Type.String({ pattern: '^[0-9]{1,10}$' })

export const sharedParameters = {
  temperature: Type.Optional(nullable(Type.Number({ minimum: 0, maximum: 2 }))),
  top_p: Type.Optional(nullable(Type.Number({ minimum: 0, maximum: 1 }))),
  max_completion_tokens: tokenLimit,
}

export const chatParameters = {
  ...sharedParameters,
  max_tokens: tokenLimit,
  seed: Type.Optional(nullable(Type.Integer({ minimum: -(2 ** 63), maximum: 2 ** 63 }))),
  frequency_penalty: penalty,
  presence_penalty: penalty,
  stop: Type.Optional(nullable(Type.Union([stopText, Type.Array(stopText, { maxItems: 16 })]))),
  response_format: Type.Optional(nullable(ResponseFormat)),
  logprobs: Type.Optional(nullable(Type.Boolean())),
  top_logprobs: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 20 }))),
  logit_bias: Type.Optional(
    nullable(
      Type.Record(tokenId, Type.Number({ minimum: -100, maximum: 100 }), {
        maxProperties: 1024,
        additionalProperties: false,
      }),
    ),
  ),
  reasoning_effort: Type.Optional(
    nullable(
      Type.Enum([...reasoningEfforts], {
        title: 'ReasoningEffort',
        about: 'How hard the model thinks before it answers.',
      }),
    ),
  ),
  service_tier: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 50 }))),
  verbosity: Type.Optional(
    nullable(Type.Enum(['low', 'medium', 'high'], { title: 'Verbosity', about: 'How long the answer is to be.' })),
  ),
}

/** Not passed to the model. */
export const endUser = Type.Optional(
  nullable(
    Type.String({
      maxLength: requestLimits.nameLength,
      description:
        'Who asks: always the same name for the same person. The tool `memory` keeps facts for each name; without one there is no memory. Whoever knows a name can use its facts.',
    }),
  ),
)
export const endUserMembers = { user: endUser, safety_identifier: endUser }

interface NamesPerson {
  user?: string | null
  safety_identifier?: string | null
}

/** Who asks by a request without an account. */
export function publicCallerOf(requested: NamesPerson): Acting {
  return { person: personIn(requested) ?? 'nameless', origin: 'public' }
}

/** Who asks by a request of an account, whose application may name its own users. */
export function accountCallerOf(requested: NamesPerson, caller: Caller): Acting {
  const name = nameIn(requested)
  if (caller.holderId !== undefined) return { person: memberNamed(caller.userId, name), origin: 'chat' }
  return { person: name === undefined ? 'owner' : personNamed(name), origin: 'chat' }
}

function personIn(requested: NamesPerson): Person | undefined {
  const name = nameIn(requested)
  return name === undefined ? undefined : personNamed(name)
}

function nameIn({ user, safety_identifier: identifier }: NamesPerson): string | undefined {
  return identifier || user || undefined
}

export const runParameters = {
  ...sharedParameters,
  ...endUserMembers,
  response_format: Type.Optional(nullable(Type.Union([Type.Literal('auto'), ResponseFormat]))),
}

interface SamplingMembers {
  temperature?: number | null
  top_p?: number | null
  max_tokens?: number | null
  max_completion_tokens?: number | null
  seed?: number | null
  frequency_penalty?: number | null
  presence_penalty?: number | null
  stop?: string | string[] | null
  response_format?: 'auto' | ResponseFormat | null
  logprobs?: boolean | null
  top_logprobs?: number | null
  logit_bias?: Record<string, number> | null
  reasoning_effort?: RunOverrides['reasoning_effort'] | null
  service_tier?: string | null
  verbosity?: RunOverrides['verbosity'] | null
}

/** The parameters of a request as a run stores them; null counts as missing. */
export function overridesOf(requested: SamplingMembers): RunOverrides {
  const { temperature, top_p, seed, frequency_penalty, presence_penalty, response_format: format } = requested
  const maxTokens = requested.max_completion_tokens ?? requested.max_tokens
  if (requested.top_logprobs && !requested.logprobs) throw invalidInput(['body', 'top_logprobs'], 'needs logprobs')
  const stop = typeof requested.stop === 'string' ? [requested.stop] : (requested.stop ?? [])
  return {
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(typeof maxTokens === 'number' ? { max_tokens: maxTokens } : {}),
    ...(typeof top_p === 'number' ? { top_p } : {}),
    ...(typeof seed === 'number' ? { seed } : {}),
    ...(typeof frequency_penalty === 'number' ? { frequency_penalty } : {}),
    ...(typeof presence_penalty === 'number' ? { presence_penalty } : {}),
    ...(stop.length > 0 ? { stop } : {}),
    ...(requested.logprobs ? { logprobs: true } : {}),
    ...(requested.logprobs && requested.top_logprobs ? { top_logprobs: requested.top_logprobs } : {}),
    ...(requested.logit_bias && Object.keys(requested.logit_bias).length > 0
      ? { logit_bias_json: JSON.stringify(requested.logit_bias) }
      : {}),
    ...(requested.reasoning_effort ? { reasoning_effort: requested.reasoning_effort } : {}),
    ...(requested.service_tier && requested.service_tier !== 'auto' ? { service_tier: requested.service_tier } : {}),
    ...(requested.verbosity ? { verbosity: requested.verbosity } : {}),
    // Text is the default of models, and may replace another format of the assistant.
    ...(typeof format === 'object' && format !== null ? { response_format_json: formatText(format) } : {}),
  }
}

/** Throws `invalid_input` for a format without its schema, and for one that is too long. */
export function formatText(format: ResponseFormat): string {
  if (format.type === 'json_schema' && format.json_schema === undefined)
    throw invalidInput(['body', 'response_format', 'json_schema'], 'is required of the type json_schema', 'missing')
  const text = checkFreeForm(['body', 'response_format'], format)
  if (Buffer.byteLength(text) > maxFormatBytes)
    throw invalidInput(['body', 'response_format'], `is longer than ${maxFormatBytes} bytes`, 'too_long')
  return text
}

/** A member that is not supported, and without which the answer would be different. */
interface Demand {
  /** Whether a value differs from the default. Clients send defaults, which have no effect. */
  isMade(value: unknown): boolean
  why: string
}

const textOnly = 'answers are text'
const noClientTools = "a call of a client's tool cannot be demanded: the assistant calls tools of its own"
const noFiles = 'files of callers are not supported'

const chatDemands: Record<string, Demand> = {
  modalities: { isMade: (value) => JSON.stringify(value) !== '["text"]' && isFilled(value), why: textOnly },
  audio: { isMade: (value) => isFilled(value), why: textOnly },
  prediction: { isMade: (value) => isFilled(value), why: 'models are not told what to expect' },
  web_search_options: { isMade: () => true, why: "a search cannot be demanded: the assistant's tools are its owner's" },
  moderation: { isMade: (value) => isFilled(value), why: 'answers are not moderated here' },
}

const runDemands: Record<string, Demand> = {
  tool_choice: { isMade: demandsTool, why: noClientTools },
  max_prompt_tokens: { isMade: () => true, why: 'what a run reads cannot be limited by its caller' },
  truncation_strategy: {
    isMade: (value) => !isJsonObject(value) || value['type'] !== 'auto',
    why: 'the conversation is cut to the window of the model, and not otherwise',
  },
  tool_resources: { isMade: (value) => isFilled(value), why: noFiles },
}

const threadDemands: Record<string, Demand> = { tool_resources: { isMade: (value) => isFilled(value), why: noFiles } }
const messageDemands: Record<string, Demand> = { attachments: { isMade: (value) => isFilled(value), why: noFiles } }

type Loc = (string | number)[]

/**
 * Throws `invalid_input`, naming the member, for a request with an unsupported member that would change the answer.
 * Members without a noticeable effect are accepted, known or not.
 */
export const refuseUnmetChat = (body: object): void => refuse(body, chatDemands, ['body'])
export const refuseUnmetRun = (body: object): void => refuse(body, runDemands, ['body'])
export const refuseUnmetThread = (thread: object, loc: Loc): void => refuse(thread, threadDemands, loc)
export const refuseUnmetMessage = (message: object, loc: Loc): void => refuse(message, messageDemands, loc)

function refuse(body: object, demands: Record<string, Demand>, loc: Loc): void {
  for (const [member, { isMade, why }] of Object.entries(demands)) {
    const value: unknown = Object.hasOwn(body, member) ? Reflect.get(body, member) : undefined
    if (value === undefined || value === null) continue
    if (isMade(value)) throw invalidInput([...loc, member], why, 'unsupported')
  }
}

/** `auto`, `none`, and a choice among `allowed_tools` that leaves it to the model are accepted. */
function demandsTool(choice: unknown): boolean {
  if (!isJsonObject(choice)) return choice !== 'auto' && choice !== 'none'
  if (choice['type'] !== 'allowed_tools') return true
  const allowed = choice['allowed_tools']
  return !isJsonObject(allowed) || allowed['mode'] !== 'auto'
}

/**
 * Whether a value contains anything: `{code_interpreter: {file_ids: []}}` does not. A value that nests deeper than
 * any known member does.
 */
function isFilled(value: unknown, levels = 4): boolean {
  if (value === null) return false
  if (typeof value !== 'object' || levels === 0) return true
  return Object.values(value).some((member) => isFilled(member, levels - 1))
}
