import { isJsonObject } from '../../../domain/json.ts'
import type { ChatRequest, ScriptedReply } from '../../support/scripted-model.ts'

const usage = { prompt_tokens: 21, completion_tokens: 4 }

/**
 * Does what a request asks for, as far as its form says it: calls the tool that is offered, with arguments that fit its
 * schema, answers JSON by the schema, or the keys that the question names, and says what a tool answered.
 */
export function oblige({ body }: ChatRequest): ScriptedReply {
  const last = body.messages.at(-1)
  const asked = textOf(body.messages.findLast(({ role }) => role === 'user')?.content)
  const { tools = [], tool_choice: choice } = body
  if (tools.length > 0 && choice !== 'none' && (last?.role !== 'tool' || choice === 'required')) {
    const wanted = member(member(choice, 'function'), 'name')
    const { name = '', parameters } = (tools.find((tool) => tool.function.name === wanted) ?? tools[0])?.function ?? {}
    return { toolCalls: [{ name, arguments: JSON.stringify(sampleOf(parameters, asked)) }], usage }
  }
  const format = body['response_format']
  if (member(format, 'type') === 'json_schema')
    return { text: JSON.stringify(sampleOf(member(member(format, 'json_schema'), 'schema'), asked)), usage }
  if (member(format, 'type') === 'json_object') {
    const keys = [...asked.matchAll(/['`"](\w+)['`"]/g)].map(([, key]) => [key, 'word'])
    return { text: JSON.stringify(Object.fromEntries(keys)), usage }
  }
  if (last?.role === 'tool') return { text: ['The tool ', 'said: ', textOf(last.content)], usage }
  return { text: ['You ', 'said: ', asked.slice(0, 200)], usage }
}

const member = (value: unknown, name: string): unknown => (isJsonObject(value) ? value[name] : undefined)

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : ''
  return content.map((part: unknown) => textOf(member(part, 'text'))).join(' ')
}

/** A value of a JSON schema, with numbers and letters of other scripts from the question. */
function sampleOf(schema: unknown, asked: string, root = schema): unknown {
  const reference = member(schema, '$ref')
  if (typeof reference === 'string') return sampleOf(reference.split('/').slice(1).reduce(member, root), asked, root)
  const [first] = [member(schema, 'anyOf'), member(schema, 'oneOf'), member(schema, 'enum')].flatMap((list) =>
    Array.isArray(list) ? [list[0]] : [],
  )
  if (Array.isArray(member(schema, 'enum'))) return first
  if (first !== undefined) return sampleOf(first, asked, root)
  const number = Number(/-?\d+(?:\.\d+)?/.exec(asked)?.[0] ?? 1)
  switch (member(schema, 'type')) {
    case 'object': {
      const properties = member(schema, 'properties')
      const entries = isJsonObject(properties) ? Object.entries(properties) : []
      return Object.fromEntries(entries.map(([name, value]) => [name, sampleOf(value, asked, root)]))
    }
    case 'array':
      return [sampleOf(member(schema, 'items'), asked, root)]
    case 'integer':
      return Math.round(number)
    case 'number':
      return number
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      if (member(schema, 'const') !== undefined) return member(schema, 'const')
      return /[^\s!-~]{2,}/.exec(asked)?.[0] ?? 'word'
  }
}
