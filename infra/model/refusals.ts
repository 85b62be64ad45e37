import { collectedNames } from './answer-members.ts'
import { type OptionalMember, type Trait, optionalMembers } from './dialects.ts'
import { isTemplateRefusal } from './failures.ts'
import { type RequestBody, changesNoAnswer, isPresent } from './optional-members.ts'

/** A refusal of a request, as the client library reads it. */
interface Refusal {
  status: number
  message: string
  param: string
}

export function refusalIn(error: unknown): Refusal | undefined {
  if (!(error instanceof Error) || !('status' in error)) return undefined
  const { status } = error
  const param = 'param' in error && typeof error.param === 'string' ? error.param : ''
  return typeof status === 'number' ? { status, message: error.message, param } : undefined
}

/** What a refusal says about the server: the form in which the request can be asked again, or that it cannot. */
interface Lesson {
  traits: Trait[]
  /** It holds for other requests, too: it is not about a value of this one. */
  isLasting: boolean
}

interface RefusedRequest {
  body: RequestBody
  known: ReadonlySet<Trait>
  /** Whether the member must not be left out. */
  isDemanded(name: OptionalMember): boolean
}

/**
 * What a refusal says about the server, if the request can be asked again in another form; the name of the unknown
 * member, if the caller asked for it; otherwise undefined. Servers answer 400 or 422, and 500 where the template of the
 * model refuses.
 */
export function lessonIn(
  refusal: Refusal,
  { body, known, isDemanded }: RefusedRequest,
): Lesson | { unknown: OptionalMember } | undefined {
  const { status, message } = refusal
  const isTemplate = status === 500 && isTemplateRefusal(message)
  if (status !== 400 && status !== 422 && !isTemplate) return undefined
  const isRenamed =
    message.includes('max_completion_tokens') && !/too large|at most|exceed|context length/i.test(message)
  if (!known.has('max_completion_tokens') && body.max_tokens !== undefined && isRenamed)
    return { traits: ['max_completion_tokens'], isLasting: true }
  for (const trait of messageTraits(message, body))
    if (!known.has(trait)) return { traits: [trait], isLasting: trait !== 'plain_schemas' || !isAboutSchema(message) }
  for (const { name, trait } of memberTraits(refusal, body)) {
    const isValue = isAboutValue(refusal, name, body)
    if (trait === `without ${name}` && isDemanded(name)) return isValue ? undefined : { unknown: name }
    if (known.has(trait)) continue
    // A server that does not know one of those that say who asks knows none.
    if (aboutCaller.includes(trait)) return { traits: aboutCaller, isLasting: true }
    // Only requests with the same effort are changed by what is learnt of it.
    return { traits: [trait], isLasting: !isValue || trait !== `without ${name}` }
  }
  return undefined
}

/** What says who asks. */
const aboutCaller: Trait[] = ['without user', 'without safety_identifier', 'without prompt_cache_key']

/** The rules of templates and providers about messages and tools, by the words in which they refuse. */
function* messageTraits(text: string, { messages, tools = [] }: RequestBody): Generator<Trait> {
  const has = (role: string) => messages.some((message) => message.role === role)
  const calls = messages.some((message) => message.role === 'assistant' && message.tool_calls !== undefined)
  const unknown = isUnknown(text)
  if (calls && /thought_?signature/i.test(text)) yield 'signed_calls'
  if (calls && /reasoning|thinking/i.test(text) && /back|missing|must|require|expect/i.test(text) && !unknown)
    yield 'thinking_with_calls'
  if (unknown && givenBack(messages).some((name) => named(name).test(text))) yield 'no_thinking_back'
  if (
    calls &&
    /call.{0,8}\bids?\b|tool_use.{0,8}id|tool_calls\S*\bid\b/i.test(text) &&
    /length|long|a-z|pattern|match|character/i.test(text)
  )
    yield 'short_call_ids'
  if (has('system') && /system/i.test(text)) {
    if (messages.slice(1).some(({ role }) => role === 'system') && !/not support|unsupported/i.test(text))
      yield 'one_system_message'
    if (/not support|unsupported|not allowed|only .*user.*assistant/i.test(text)) yield 'system_in_first_message'
  }
  if (
    /\broles?\b|alternat|consecutive/i.test(text) &&
    /alternat|consecutive|after|follow|order|last|first|must|expected/i.test(text)
  ) {
    yield 'turns_alternate'
    if (messages.slice(1).some(({ role }) => role === 'system')) yield 'one_system_message'
    if (calls) yield 'past_calls_as_text'
    if (has('system')) yield 'system_in_first_message'
  }
  if (showsFiles(messages) && /image|picture|vision|audio|sound|multimodal|modalit|file/i.test(text))
    yield 'no_pictures_of_tools'
  if (/content/i.test(text) && /string|null|none|sequence|valid|required/i.test(text)) yield 'text_content'
  if (tools.length > 0) {
    if (/function.{0,10}name|tool.{0,10}name/i.test(text) && /letter|start|begin|invalid/i.test(text))
      yield 'plain_names'
    const canBePlain = tools.some((tool) => tool.type === 'function' && tool.function.strict !== true)
    const isOfTools =
      /schema|parameters|propert|function_?declaration/i.test(text) && !/response_format|support parameters/.test(text)
    if (canBePlain && isOfTools) yield 'plain_schemas'
  }
}

/** Whether pictures or files of a tool's result follow it. Those of a person are refused to the person. */
function showsFiles(messages: RequestBody['messages']): boolean {
  return messages.some(({ role }, index) => role === 'user' && messages[index - 1]?.role === 'tool')
}

/** The members of messages and calls that hold what the model thought. */
function givenBack(messages: RequestBody['messages']): string[] {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.tool_calls ?? []) : []))
  return [...collectedNames].filter((name) => [...messages, ...calls].some((one) => name in one))
}

function named(name: string): RegExp {
  return new RegExp(`(?<![a-z_])${name}(?![a-z_])`)
}

interface MemberTrait {
  name: OptionalMember
  trait: Trait
}

function* memberTraits(refusal: Refusal, body: RequestBody): Generator<MemberTrait> {
  const present = optionalMembers.filter((name) => isPresent(name, body))
  const named = present.filter((name) => namesMember(refusal, name))
  // `response_format.json_schema.strict` is about `strict`.
  const exact = named.filter((name) => name === refusal.param.split('.').at(-1))
  for (const name of exact.length > 0 ? exact : named) {
    const effort = name === 'reasoning_effort' ? body.reasoning_effort : undefined
    if ((effort === 'none' || effort === 'minimal') && /\blow\b/.test(refusal.message))
      yield { name, trait: `effort_${effort}_is_low` }
    if (changesNoAnswer(name, body) || isUnknown(refusal.message)) yield { name, trait: `without ${name}` }
  }
}

/** Whether the words are about a member that is not known, and not about its value. */
function isUnknown(text: string): boolean {
  return /unsupported|not support|doesn't support|only supports|unrecognized|unknown|unexpected|extra|not permitted|not allowed|cannot find|no such|deprecated|unavailable|not available|not enabled|cannot be|only the default|not implemented/i.test(
    text,
  )
}

/** Whether the words are about the value that this request has for a member, and not about the member. */
function isAboutValue({ message, param }: Refusal, name: OptionalMember, body: RequestBody): boolean {
  if (isExtraMember(message)) return param.startsWith(`${name}.`)
  if (/only the default/i.test(message)) return false
  if (name === 'service_tier' || isAboutSchema(message) || param.startsWith(`${name}.`)) return true
  if (/(?:supported|valid|allowed|possible) values|not permitted|unknown variant|one of/i.test(message)) return true
  const isWord = name === 'tool_choice' || name === 'reasoning_effort' || name === 'verbosity'
  const value = isWord ? body[name] : undefined
  return typeof value === 'string' && message.split(/[^\w-]+/).includes(value)
}

function isAboutSchema(text: string): boolean {
  return /invalid.{0,20}\bschema\b|\bschema\b.{0,40}(?:invalid|not valid|not permitted|not supported)|schema error/i.test(
    text,
  )
}

/** The words in which servers refuse members that they do not know. */
function isExtraMember(text: string): boolean {
  return /extra (?:inputs?|fields?)|(?:unrecognized|unknown|unsupported|unexpected) (?:name|field|member|parameter|property|key|keyword|argument|request argument)\b/i.test(
    text,
  )
}

/** Servers write `presence_penalty`, or `presencePenalty`. */
function namesMember({ message, param }: Refusal, name: OptionalMember): boolean {
  const camel = name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase())
  if (
    name === 'reasoning_effort' &&
    /not support(?:ed)? (?:thinking|reasoning)|think(?:ing)? value|(?:thinking|reasoning) is not support/i.test(message)
  )
    return true
  const words = named(`(?:${name}|${camel})`)
  return words.test(param) || words.test(message)
}
