import { invalidInput } from '../../../../domain/errors.ts'
import type { Message, ToolCall } from '../../../../domain/messages.ts'
import { readJsonObject } from '../../../../domain/partial-json.ts'
import type { InputEntry } from '../../../../services/v1/responses/index.ts'
import type { InputItem, Part } from './input-schemas.ts'
import { isFilePart, readPart } from './read-parts.ts'

type Loc = (string | number)[]

const textParts = new Set(['input_text', 'output_text', 'text', 'summary_text'])
/** They hold nothing that a model here could use. */
const emptyTypes = new Set(['reasoning', 'mcp_list_tools', 'web_search_call'])

/**
 * The messages of a request's input. Their ids are empty: whoever stores them gives them ids. Throws `invalid_input` for
 * what is not understood.
 */
export function readInput(input: string | InputItem[], loc: Loc): InputEntry[] {
  if (typeof input === 'string') return [{ message: { type: 'HumanMessage', data: { id: '', content: input } } }]
  const entries: InputEntry[] = []
  for (const [index, item] of input.entries()) addItem(entries, item, [...loc, index])
  return entries
}

function addItem(entries: InputEntry[], item: InputItem, loc: Loc): void {
  const { type = item.role === undefined && item.id ? 'item_reference' : 'message' } = item
  switch (type) {
    case 'message':
      entries.push(messageOf(item, loc))
      return
    case 'item_reference':
      entries.push({ reference: required(item.id ?? undefined, [...loc, 'id']), loc })
      return
    case 'function_call':
      addCall(entries, callOf(item, loc))
      return
    case 'function_call_output':
      entries.push({ message: resultOf(required(item.call_id, [...loc, 'call_id']), outputOf(item, loc)) })
      return
    case 'mcp_call': {
      const name = required(item.name, [...loc, 'name'])
      const id = required(item.id ?? undefined, [...loc, 'id'])
      addCall(entries, callOf({ ...item, call_id: id, name: `${item.server_label ?? 'mcp'}_${name}` }, loc))
      entries.push({ message: resultOf(id, outputOf(item, loc)) })
      return
    }
    case 'file_search_call': {
      const id = required(item.id ?? undefined, [...loc, 'id'])
      const args = { query: (item.queries ?? []).join('\n') }
      addCall(entries, { id, name: 'retrieval', args, type: 'tool_call' })
      entries.push({ message: resultOf(id, JSON.stringify({ passages: item.results ?? [] })) })
      return
    }
    default:
      if (!emptyTypes.has(type)) throw invalidInput([...loc, 'type'], `${type} is not available here`, 'unsupported')
  }
}

function messageOf(item: InputItem, loc: Loc): InputEntry {
  const { role, content } = item
  if (role === undefined) throw invalidInput([...loc, 'role'], 'is required of a message', 'missing')
  if (content === undefined || content === null)
    throw invalidInput([...loc, 'content'], 'is required of a message', 'missing')
  const at = [...loc, 'content']
  if (role === 'user' && typeof content !== 'string' && content.some(isFilePart))
    return { parts: content.map((part, index) => readPart(part, [...at, index], partText)), loc }
  const data = { id: '', content: textOf(content, at) }
  if (role === 'user') return { message: { type: 'HumanMessage', data } }
  return { message: role === 'assistant' ? { type: 'AIMessage', data } : { type: 'SystemMessage', data } }
}

function callOf({ call_id: id, name, arguments: text = '{}' }: InputItem, loc: Loc): ToolCall {
  const args = text === '' ? {} : readJsonObject(text)
  if (args === undefined) throw invalidInput([...loc, 'arguments'], 'is not the text of a JSON object')
  return { id: required(id, [...loc, 'call_id']), name: required(name, [...loc, 'name']), args, type: 'tool_call' }
}

/** Calls that follow each other belong to one answer, as a model makes them. */
function addCall(entries: InputEntry[], call: ToolCall): void {
  const last = entries.at(-1)
  const message = last !== undefined && 'message' in last ? last.message : undefined
  if (message?.type === 'AIMessage') {
    const data = { ...message.data, tool_calls: [...(message.data.tool_calls ?? []), call] }
    entries[entries.length - 1] = { message: { type: 'AIMessage', data } }
    return
  }
  entries.push({ message: { type: 'AIMessage', data: { id: '', content: '', tool_calls: [call] } } })
}

function resultOf(callId: string, content: string): Message {
  return { type: 'ToolMessage', data: { id: '', content, tool_call_id: callId } }
}

function outputOf({ output, type }: InputItem, loc: Loc): string {
  if (output === null && type === 'mcp_call') return ''
  return textOf(required(output ?? undefined, [...loc, 'output']), [...loc, 'output'])
}

function textOf(content: string | Part[], loc: Loc): string {
  if (typeof content === 'string') return content
  return content.map((part, index) => partText(part, [...loc, index])).join('')
}

function partText({ type, text, refusal }: Part, loc: Loc): string {
  const found = textParts.has(type) ? text : type === 'refusal' ? refusal : undefined
  if (found !== undefined) return found
  if (textParts.has(type)) throw invalidInput([...loc, 'text'], 'is required', 'missing')
  throw invalidInput([...loc, 'type'], `${type} is not available here`, 'unsupported')
}

function required<T>(value: T | undefined, loc: Loc): T {
  if (value === undefined) throw invalidInput(loc, 'is required', 'missing')
  return value
}
