import { Value } from 'typebox/value'
import { ToolChoice, clientFunctionsText } from '../../../domain/client-tools.ts'
import { invalidInput } from '../../../domain/errors.ts'
import type { RunOverrides } from '../../../domain/records/run.ts'

interface AskedTools {
  tools?: { type: string; function?: { name: string } }[] | null
  tool_choice?: unknown
  parallel_tool_calls?: boolean | null
}

/**
 * The functions of a request as a run stores them, and what the model may do with them: a run that calls one ends with
 * the call. Throws `invalid_input` for tools of other types, and for a choice of a function that is not among them.
 */
export function toolOverridesOf({
  tools,
  tool_choice: choice,
  parallel_tool_calls: parallel,
}: AskedTools): RunOverrides {
  const functions = (tools ?? []).map(({ type, function: given }, index) => {
    const loc = ['body', 'tools', index]
    if (type !== 'function') throw invalidInput([...loc, 'type'], `${type} is not available here`, 'unsupported')
    if (given === undefined) throw invalidInput([...loc, 'function'], 'is required of the type function', 'missing')
    return given
  })
  const hasTools = functions.length > 0
  return {
    client_calls: 'return',
    ...(hasTools ? { tools_json: clientFunctionsText(functions, ['body', 'tools']) } : {}),
    ...choiceOf(choice, new Set(functions.map(({ name }) => name))),
    ...(hasTools && typeof parallel === 'boolean' ? { parallel_tool_calls: parallel } : {}),
  }
}

/** Without tools, `auto` and `none` are the default, and leave the assistant its own tools. */
function choiceOf(choice: unknown, names: Set<string>): Pick<RunOverrides, 'tool_choice_json'> {
  const loc = ['body', 'tool_choice']
  if (choice === undefined || choice === null || choice === 'auto') return {}
  if (choice === 'none' && names.size === 0) return {}
  if (!Value.Check(ToolChoice, choice)) throw invalidInput(loc, 'is not a choice of functions', 'unsupported')
  if (typeof choice !== 'string') {
    if (choice.type === 'retrieval') throw invalidInput(loc, 'is not a choice of functions', 'unsupported')
    const chosen = choice.type === 'function' ? [choice.function.name] : choice.allowed_tools.tools.map(nameOf)
    const unknown = chosen.find((name) => !names.has(name))
    if (unknown !== undefined) throw invalidInput(loc, `there is no function ${unknown} in tools`, 'unsupported')
  }
  return { tool_choice_json: JSON.stringify(choice) }
}

const nameOf = ({ function: { name } }: { function: { name: string } }) => name
