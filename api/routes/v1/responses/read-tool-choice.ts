import type { RunToolChoice, ToolReference } from '../../../../domain/client-tools.ts'
import { invalidInput } from '../../../../domain/errors.ts'
import type { RunOverrides } from '../../../../domain/records/run.ts'
import type { RequestedTools } from '../../../../services/v1/responses/index.ts'
import { offeredName } from './offered-name.ts'
import { plainType, required } from './read-tools.ts'
import type { RequestToolChoice } from './request-schemas.ts'

type Loc = (string | number)[]
type ChosenTool = { type: string; name?: string; namespace?: string; server_label?: string }

/** Which tools the model may or must call. */
export function readToolChoice(
  choice: RequestToolChoice,
  tools: RequestedTools,
): Pick<RunOverrides, 'tool_choice_json'> {
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
