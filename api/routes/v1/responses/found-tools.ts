import { Value } from 'typebox/value'
import { invalidInput } from '../../../../domain/errors.ts'
import { parseOwnJson } from '../../../../domain/json.ts'
import type { InputItem } from './input-schemas.ts'
import { RequestTool } from './tool-schemas.ts'

type Loc = (string | number)[]
interface FoundTool {
  tool: RequestTool
  loc: Loc
}

/** What is kept with a response of the tools that its client has found. */
const maxFoundBytes = 256 * 1024

/** The tools that items of the input bring, and those that the input of the responses before it has brought. */
export function foundTools(input: string | InputItem[], before: string | undefined): FoundTool[] {
  // An archive may have brought them.
  const earlier =
    before === undefined ? [] : parseOwnJson<unknown[]>(before).filter((tool) => Value.Check(RequestTool, tool))
  const loc = ['body', 'previous_response_id']
  return [...toolsOfInput(input, ['body', 'input']), ...earlier.map((tool) => ({ tool, loc }))]
}

/** What the next response is told of them; of very many the newest. */
export function foundTextOf(input: string | InputItem[], before: string | undefined): string | undefined {
  let left = maxFoundBytes
  const known = new Set<string>()
  const kept = foundTools(input, before).filter(({ tool }) => {
    // Keys of servers are not kept in clear, and clients repeat what was found.
    if (tool.type === 'mcp' || known.has(`${tool.type} ${tool.name}`)) return false
    known.add(`${tool.type} ${tool.name}`)
    return (left -= Buffer.byteLength(JSON.stringify(tool))) >= 0
  })
  return kept.length === 0 ? undefined : JSON.stringify(kept.map(({ tool }) => tool))
}

function toolsOfInput(input: string | InputItem[], loc: Loc): FoundTool[] {
  if (typeof input === 'string') return []
  return input.flatMap(({ type, tools = [] }, index) =>
    type === 'additional_tools' || type === 'tool_search_output'
      ? tools.map((tool, position) => {
          const at = [...loc, index, 'tools', position]
          if (!('type' in tool)) throw invalidInput([...at, 'type'], 'is required', 'missing')
          return { tool, loc: at }
        })
      : [],
  )
}
