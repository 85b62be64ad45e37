import type { ModelToolChoice, RunToolChoice, ToolReference } from '../../domain/client-tools.ts'
import { invalidInput } from '../../domain/errors.ts'
import { parseOwnJson } from '../../domain/own-json.ts'
import type { RunOverrides } from '../../domain/records/run.ts'
import type { Tool } from '../tool.ts'
import { toolName } from '../tools/tool-name.ts'

interface Offer {
  /** Undefined: the model chooses. */
  choice: ModelToolChoice | undefined
  tools: Tool[]
}

/**
 * The tools that the model is offered in a step, and which it must call. A tool is demanded of the first answer only: a
 * model that had to call one after each result would never answer. Throws `invalid_input` if a tool is demanded that the
 * run does not have.
 */
export function offerTools({ tool_choice_json: json }: RunOverrides, tools: Tool[], step: number): Offer {
  if (json === undefined) return { choice: undefined, tools }
  const choice = parseOwnJson<RunToolChoice>(json)
  const isFirst = step === 0
  if (typeof choice === 'string') return { choice: choice !== 'required' || isFirst ? choice : undefined, tools }
  switch (choice.type) {
    case 'allowed_tools':
      return { choice: choice.allowed_tools.mode === 'auto' || isFirst ? choice : undefined, tools }
    case 'of_run': {
      const chosen = tools.filter((tool) => choice.tools.some((reference) => isMeant(tool, reference)))
      if (!isFirst || choice.mode === 'auto') return { choice: undefined, tools: chosen }
      const [only, second] = chosen
      if (only === undefined) throw notThere()
      return { choice: second === undefined ? named(only) : 'required', tools: chosen }
    }
    case 'retrieval':
    case 'code':
    case 'function': {
      if (!isFirst) return { choice: undefined, tools }
      const wanted = tools.find(({ type, name }) =>
        choice.type === 'function' ? name === choice.function.name : type === choice.type,
      )
      if (wanted === undefined) throw notThere()
      return { choice: named(wanted), tools }
    }
  }
}

function isMeant({ type, name }: Tool, reference: ToolReference): boolean {
  if ('type' in reference) return type === reference.type
  if (!('server' in reference)) return name === reference.name
  if (type !== 'mcp') return false
  return reference.name === undefined
    ? name.startsWith(`${reference.server}_`)
    : name === toolName(`${reference.server}_${reference.name}`)
}

function named({ name }: Tool): ModelToolChoice {
  return { type: 'function', function: { name } }
}

function notThere() {
  return invalidInput(['body', 'tool_choice'], 'The tool that must be called is not there.')
}
