import { type ToolType, toolTypes } from '../../../domain/acting.ts'
import { type ClientFunction, type RunToolChoice, clientFunctionsText } from '../../../domain/client-tools.ts'
import { invalidInput } from '../../../domain/errors.ts'
import type { RunOverrides } from '../../../domain/records/run.ts'
import { overridesOf } from '../public/model-parameters.ts'
import type { V1RunCreateRequest } from './run-schemas.ts'

type Asked = Omit<V1RunCreateRequest, 'additional_messages' | 'assistant_id' | 'metadata'>

/** What a request changes for its run. Throws `invalid_input` for tools that this service does not have. */
export function v1OverridesOf(body: Asked, expireSeconds: number): RunOverrides {
  const { instructions, additional_instructions: added, model, reasoning_effort: effort } = body
  const { max_prompt_tokens: prompt, max_completion_tokens: completion, truncation_strategy: truncation } = body
  const { max_tokens: _, ...parameters } = overridesOf(body)
  return {
    ...parameters,
    ...(typeof instructions === 'string' ? { system_message: instructions } : {}),
    ...(typeof added === 'string' && added !== '' ? { instructions: added } : {}),
    ...(typeof model === 'string' ? { model } : {}),
    ...(typeof effort === 'string' ? { reasoning_effort: effort } : {}),
    ...(typeof prompt === 'number' ? { max_prompt_tokens: prompt } : {}),
    ...(typeof completion === 'number' ? { max_completion_tokens: completion } : {}),
    ...(truncation?.type === 'last_messages' ? { last_messages: lastMessagesOf(truncation.last_messages) } : {}),
    ...(Array.isArray(body.tools) ? toolsOf(body.tools) : {}),
    ...(body.tool_choice === undefined || body.tool_choice === null
      ? {}
      : { tool_choice_json: JSON.stringify(choiceOf(body.tool_choice)) }),
    ...(body.parallel_tool_calls === undefined ? {} : { parallel_tool_calls: body.parallel_tool_calls }),
    client_calls: 'wait',
    client_calls_expire_seconds: expireSeconds,
  }
}

function lastMessagesOf(count: number | null | undefined): number {
  if (typeof count !== 'number')
    throw invalidInput(['body', 'truncation_strategy', 'last_messages'], 'is required of this type', 'missing')
  return count
}

/** Tools of the assistant that this API does not know are used as before. */
const otherTypes: ToolType[] = toolTypes.filter((type) => !['client', 'retrieval', 'code'].includes(type))

/** The tools of the run in place of those of the assistant. */
function toolsOf(tools: NonNullable<Asked['tools']>): Pick<RunOverrides, 'server_tools' | 'tools_json'> {
  const functions: ClientFunction[] = []
  let searches = false
  let executes = false
  for (const [index, { type, function: called, file_search: search }] of tools.entries()) {
    const loc = ['body', 'tools', index]
    if (type === 'code_interpreter') executes = true
    if (type === 'function' && called === undefined) throw invalidInput([...loc, 'function'], 'is required', 'missing')
    if (called !== undefined) functions.push(called)
    if (type === 'file_search') searches = true
    if (search !== undefined && Object.keys(search).length > 0)
      throw invalidInput([...loc, 'file_search'], 'is a setting of the assistant, not of a run', 'unsupported')
  }
  return {
    server_tools: [
      ...otherTypes,
      ...(searches ? (['retrieval'] as const) : []),
      ...(executes ? (['code'] as const) : []),
    ],
    ...(functions.length > 0 ? { tools_json: clientFunctionsText(functions, ['body', 'tools']) } : {}),
  }
}

function choiceOf(choice: NonNullable<Asked['tool_choice']>): RunToolChoice {
  if (typeof choice === 'string') return choice
  if (choice.type === 'code_interpreter') return { type: 'code' }
  if (choice.type === 'file_search') return { type: 'retrieval' }
  if (choice.function === undefined) throw invalidInput(['body', 'tool_choice', 'function'], 'is required', 'missing')
  return { type: 'function', function: choice.function }
}
