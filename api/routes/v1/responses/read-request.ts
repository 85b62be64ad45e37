import type { RunToolChoice, ToolReference } from '../../../../domain/client-tools.ts'
import { invalidInput } from '../../../../domain/errors.ts'
import { checkFreeForm } from '../../../../domain/foreign-json.ts'
import { isJsonObject } from '../../../../domain/json.ts'
import { reasoningEfforts } from '../../../../domain/reasoning-efforts.ts'
import type { RunOverrides } from '../../../../domain/records/run.ts'
import type { ThreadRecord } from '../../../../domain/records/thread.ts'
import type { Caller } from '../../../../services/owner.ts'
import type { NewResponse, RequestedTools } from '../../../../services/v1/responses/index.ts'
import { accountCallerOf, overridesOf } from '../../public/model-parameters.ts'
import { foundTextOf, foundTools } from './found-tools.ts'
import { offeredName } from './offered-name.ts'
import { readInput } from './read-input.ts'
import { readTools, plainType, required } from './read-tools.ts'
import type { ResponseCreateRequest, TextFormat, RequestToolChoice } from './request-schemas.ts'

type Loc = (string | number)[]

/** What answers may show in addition; the last of them is never in an answer here. */
const included = new Set([
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'message.output_text.logprobs',
  'reasoning.encrypted_content',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
])

/** How much of the model's reasoning is wanted: what its server tells is shown. */
const summaries = new Set(['auto', 'concise', 'detailed', 'none'])

/** Members that are refused, and why. */
const refused: Record<string, string> = {
  prompt: 'prompt templates are not stored here: send instructions, or name an assistant as the model',
  moderation: 'answers are not moderated here',
}

/**
 * The response that a request asks for. Throws `invalid_input`, naming the member, for what would change the answer and
 * is not supported.
 */
export function readRequest(
  body: ResponseCreateRequest,
  caller: Caller,
  { conversation, foundText }: { conversation?: ThreadRecord | undefined; foundText?: string | undefined } = {},
): NewResponse {
  refuseUnmet(body)
  const { model, input = [], instructions, previous_response_id: previousId, metadata } = body
  const tools = readTools(body.tools ?? [], foundTools(input, foundText))
  const isBackground = body.background ?? false
  const isStored = body.store ?? true
  if (isBackground && !isStored)
    throw invalidInput(['body', 'store'], 'a response in the background must be stored, so that it can be read')
  if (conversation !== undefined && !isStored)
    throw invalidInput(['body', 'store'], 'a response of a conversation is stored in it')
  if (conversation !== undefined && previousId)
    throw invalidInput(['body', 'previous_response_id'], 'cannot be combined with conversation')
  if (conversation !== undefined && body.context_management?.length)
    throw unsupported(['context_management'], 'a conversation keeps all of its items')
  const entries = readInput(input, ['body', 'input'])
  if (entries.length === 0 && !previousId && conversation === undefined)
    throw invalidInput(['body', 'input'], 'is required', 'missing')
  return {
    model,
    acting: accountCallerOf(body, caller),
    input: entries,
    instructions: instructions ?? undefined,
    previousId: previousId ?? undefined,
    conversation,
    isBackground,
    isStored,
    overrides: {
      ...overridesOf({
        temperature: body.temperature,
        top_p: body.top_p,
        presence_penalty: body.presence_penalty,
        frequency_penalty: body.frequency_penalty,
        logprobs: wantsLogprobs(body),
        top_logprobs: body.top_logprobs,
        response_format: formatOf(body.text?.format),
      }),
      ...(body.max_output_tokens ? { max_completion_tokens: body.max_output_tokens } : {}),
      ...effortOf(body.reasoning?.effort),
      ...(body.service_tier && body.service_tier !== 'auto' ? { service_tier: body.service_tier } : {}),
      ...(body.text?.verbosity ? { verbosity: body.text.verbosity } : {}),
      ...(body.user ? { user: body.user } : {}),
      ...(body.safety_identifier ? { safety_identifier: body.safety_identifier } : {}),
      ...(body.prompt_cache_key ? { prompt_cache_key: body.prompt_cache_key } : {}),
      ...(typeof body.parallel_tool_calls === 'boolean' ? { parallel_tool_calls: body.parallel_tool_calls } : {}),
      ...(tools.functionsText === undefined ? {} : { tools_json: tools.functionsText }),
      ...(body.max_tool_calls ? { max_tool_calls: body.max_tool_calls } : {}),
      ...(body.truncation === 'disabled' ? { truncation: 'disabled' as const } : {}),
      ...readToolChoice(body.tool_choice ?? 'auto', tools),
      client_calls: 'return',
    },
    tools: { ...tools, foundText: foundTextOf(input, foundText) },
    metadataJson: metadata ? checkFreeForm(['body', 'metadata'], metadata) : undefined,
    shown: toFacts(body, tools.shown),
  }
}

function refuseUnmet(body: ResponseCreateRequest): void {
  for (const [member, why] of Object.entries(refused)) {
    const value: unknown = Reflect.get(body, member)
    if (value !== undefined && value !== null) throw unsupported([member], why)
  }
  const { multi_agent: several } = body
  if (several !== undefined && several !== null && !(isJsonObject(several) && several['enabled'] === false))
    throw unsupported(['multi_agent'], 'a response is given by one assistant here')
  for (const [index, one] of (body.include ?? []).entries())
    if (!included.has(one)) throw unsupported(['include', index], `${one} is not known here`)
  for (const member of ['summary', 'generate_summary'] as const) {
    const requested = body.reasoning?.[member]
    if (requested && !summaries.has(requested))
      throw invalidInput(['body', 'reasoning', member], `is none of ${[...summaries].join(', ')}`)
  }
}

function unsupported(loc: Loc, why: string) {
  return invalidInput(['body', ...loc], why, 'unsupported')
}

function wantsLogprobs({ include, top_logprobs: top }: ResponseCreateRequest): boolean {
  return Boolean(top) || (include ?? []).includes('message.output_text.logprobs')
}

function formatOf(format: TextFormat | undefined) {
  if (format === undefined) return undefined
  const { type, name, schema, description, strict } = format
  if (type !== 'json_schema') return { type }
  const loc = ['body', 'text', 'format']
  if (name === undefined) throw invalidInput([...loc, 'name'], 'is required of the type json_schema', 'missing')
  if (schema === undefined) throw invalidInput([...loc, 'schema'], 'is required of the type json_schema', 'missing')
  return {
    type,
    json_schema: {
      name,
      schema,
      ...(description === undefined ? {} : { description }),
      ...(strict === undefined ? {} : { strict }),
    },
  }
}

function effortOf(effort: string | null | undefined): Pick<RunOverrides, 'reasoning_effort'> {
  if (!effort) return {}
  const known = reasoningEfforts.find((one) => one === effort)
  if (known === undefined)
    throw invalidInput(['body', 'reasoning', 'effort'], `is none of ${reasoningEfforts.join(', ')}`)
  return { reasoning_effort: known }
}

/** The members that the response shows as they were sent. */
function toFacts(body: ResponseCreateRequest, tools: object[]): NewResponse['shown'] {
  const sent = {
    tool_choice: body.tool_choice,
    parallel_tool_calls: body.parallel_tool_calls,
    max_output_tokens: body.max_output_tokens,
    max_tool_calls: body.max_tool_calls,
    truncation: body.truncation,
    temperature: body.temperature,
    top_p: body.top_p,
    presence_penalty: body.presence_penalty,
    frequency_penalty: body.frequency_penalty,
    top_logprobs: body.top_logprobs,
    text: body.text && { format: { type: 'text' }, ...body.text },
    reasoning: body.reasoning && { effort: null, summary: null, ...body.reasoning },
    service_tier: body.service_tier === 'auto' ? undefined : body.service_tier,
    user: body.user,
    safety_identifier: body.safety_identifier,
    prompt_cache_key: body.prompt_cache_key,
  }
  const given = Object.entries(sent).filter(([, value]) => value !== undefined && value !== null)
  return { ...Object.fromEntries(given), tools }
}
type ChosenTool = { type: string; name?: string; namespace?: string; server_label?: string }

/** Which tools the model may or must call. */
function readToolChoice(choice: RequestToolChoice, tools: RequestedTools): Pick<RunOverrides, 'tool_choice_json'> {
  const read = choiceOf(choice, tools)
  return read === 'auto' ? {} : { tool_choice_json: JSON.stringify(read) }
}

function choiceOf(choice: RequestToolChoice, tools: RequestedTools): RunToolChoice {
  if (typeof choice === 'string') {
    if (choice === 'required' && tools.shown.length === 0)
      throw invalidInput(['body', 'tool_choice'], 'required needs tools to choose from')
    return choice
  }
  const loc = ['body', 'tool_choice']
  if (choice.type === 'allowed_tools') {
    const chosen = required(choice.tools, [...loc, 'tools'])
    const references = chosen.map((tool, index) => referenceTo(tool, tools, [...loc, 'tools', index]))
    return { type: 'of_run', mode: choice.mode ?? 'auto', tools: references }
  }
  const reference = referenceTo(choice, tools, loc)
  if ('name' in reference && !('server' in reference))
    return { type: 'function', function: { name: required(reference.name, [...loc, 'name']) } }
  return { type: 'of_run', mode: 'required', tools: [reference] }
}

/** A tool of the request. Throws `invalid_input` for one that the request does not have. */
function referenceTo(
  { type, name, namespace, server_label: label }: ChosenTool,
  tools: RequestedTools,
  loc: Loc,
): ToolReference {
  switch (plainType(type)) {
    case 'function':
    case 'custom': {
      const known = required(name, [...loc, 'name'])
      const offered = offeredName(known, namespace)
      if (!tools.functions.includes(offered))
        throw invalidInput([...loc, 'name'], `no function of the request is called ${known}`)
      return { name: offered }
    }
    case 'local_shell':
    case 'shell':
    case 'apply_patch':
      if (!tools.functions.includes(type)) throw missing(type, loc)
      return { name: type }
    case 'file_search':
      if (tools.fileSearch === undefined) throw missing(type, loc)
      return { type: 'retrieval' }
    case 'web_search':
      if (tools.webSearch === undefined) throw missing(type, loc)
      return { type: 'web_search' }
    case 'code_interpreter':
      if (tools.code === undefined) throw missing(type, loc)
      return { type: 'code' }
    case 'mcp': {
      const server = required(label, [...loc, 'server_label'])
      if (!tools.servers.some((known) => known.name === server))
        throw invalidInput([...loc, 'server_label'], `no MCP server of the request is called ${server}`)
      return { server, ...(name ? { name } : {}) }
    }
    default:
      throw invalidInput([...loc, 'type'], `${type} is not available here`, 'unsupported')
  }
}

function missing(type: string, loc: Loc) {
  return invalidInput([...loc, 'type'], `the request has no tool ${type}`)
}
