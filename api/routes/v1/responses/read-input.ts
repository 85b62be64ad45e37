import { toolName } from '../../../../domain/client-tools.ts'
import { type ImageDetail, imageDetails } from '../../../../domain/content-parts.ts'
import { invalidInput } from '../../../../domain/errors.ts'
import type { Message, ToolCall } from '../../../../domain/messages.ts'
import { readJsonObject } from '../../../../domain/partial-json.ts'
import type { CallOutputType, CallShape } from '../../../../domain/responses/call-shape.ts'
import { codeToolName } from '../../../../domain/responses/written-files.ts'
import type { InputEntry } from '../../../../services/v1/responses/index.ts'
import type { InputItem, Part } from './input-schemas.ts'
import { offeredName } from './offered-name.ts'
import { required } from './read-tools.ts'

type Loc = (string | number)[]

const textParts = new Set(['input_text', 'output_text', 'text', 'summary_text', 'reasoning_text'])
/** They hold nothing that a model here could use. */
const emptyTypes = new Set(['mcp_list_tools', 'web_search_call', 'additional_tools'])

/** What has been read so far. */
interface Reading {
  entries: InputEntry[]
  /** What a model thought, which belongs to the answer or calls that come next. */
  thought?: { sealed?: string; text?: string } | undefined
}

/**
 * The messages of a request's input. Their ids are empty: whoever stores them gives them ids. Throws `invalid_input` for
 * what is not understood.
 */
export function readInput(input: string | InputItem[], loc: Loc): InputEntry[] {
  if (typeof input === 'string') return [{ message: { type: 'HumanMessage', data: { id: '', content: input } } }]
  const reading: Reading = { entries: [] }
  for (const [index, item] of input.entries()) addItem(reading, item, [...loc, index])
  return sinceSummary(reading.entries)
}

/** The newest summary stands for all answers and calls before it; what people have said stays beside it. */
function sinceSummary(entries: InputEntry[]): InputEntry[] {
  const last = entries.findLastIndex((entry) => 'summary' in entry)
  return entries.filter((entry, index) => index >= last || isSaid(entry))
}

function isSaid(entry: InputEntry): boolean {
  if ('parts' in entry) return entry.callId === undefined
  return 'message' in entry && (entry.message.type === 'HumanMessage' || entry.message.type === 'SystemMessage')
}

function addItem(reading: Reading, item: InputItem, loc: Loc): void {
  const { entries } = reading
  const { type = item.role === undefined && item.id ? 'item_reference' : 'message' } = item
  switch (type) {
    case 'message':
      addMessage(reading, messageOf(item, loc))
      return
    case 'reasoning':
      reading.thought = thoughtOf(item, loc)
      return
    case 'compaction':
      entries.push({ summary: required(item.encrypted_content ?? undefined, [...loc, 'encrypted_content']), loc })
      return
    case 'mcp_approval_request': {
      const id = required(item.id ?? undefined, [...loc, 'id'])
      const name = `${required(item.server_label, [...loc, 'server_label'])}_${required(item.name, [...loc, 'name'])}`
      addCall(reading, callOf({ ...item, call_id: id, name: toolName(name) }, loc))
      return
    }
    case 'mcp_approval_response':
      entries.push({
        decides: required(item.approval_request_id ?? undefined, [...loc, 'approval_request_id']),
        isAllowed: required(item.approve, [...loc, 'approve']),
        reason: item.reason ?? '',
        loc,
      })
      return
    case 'item_reference':
      entries.push({ reference: required(item.id ?? undefined, [...loc, 'id']), loc })
      return
    case 'function_call':
      addCall(reading, functionCallOf(item, loc))
      return
    case 'custom_tool_call': {
      const name = required(item.name, [...loc, 'name'])
      const shape = { type: 'custom' as const, name, ...(item.namespace ? { namespace: item.namespace } : {}) }
      addCall(reading, otherCall(item, { name, args: { input: item.input ?? '' }, shape }, loc))
      return
    }
    case 'local_shell_call':
    case 'shell_call': {
      const { type: _exec, ...action } = required(item.action, [...loc, 'action'])
      const name = type === 'shell_call' ? 'shell' : 'local_shell'
      addCall(reading, builtInCall(item, name, action, loc))
      return
    }
    case 'apply_patch_call':
      addCall(reading, builtInCall(item, 'apply_patch', required(item.operation, [...loc, 'operation']), loc))
      return
    case 'tool_search_call':
      addCall(reading, builtInCall(item, 'tool_search', argumentsOf(item, loc), loc))
      return
    case 'tool_search_output': {
      const found = (item.tools ?? []).map(({ name }) => name ?? '').filter(Boolean)
      const content = found.length === 0 ? 'Nothing was found.' : `These tools can be called now: ${found.join(', ')}`
      entries.push({ message: resultOf(required(item.call_id, [...loc, 'call_id']), content, type) })
      return
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
    case 'shell_call_output':
    case 'apply_patch_call_output': {
      // The output of a local shell names its call as `id`.
      const callId = item.call_id ?? (type === 'local_shell_call_output' ? (item.id ?? undefined) : undefined)
      const of = required(callId, [...loc, 'call_id'])
      const files = filesOfOutput(item)
      if (files !== undefined) {
        const parts = files.map((part, index) => readPart(part, [...loc, 'output', index], partText))
        entries.push({ parts, callId: of, outputType: kindOf(type), loc })
      } else entries.push({ message: resultOf(of, outputOf(item, loc), type) })
      return
    }
    case 'mcp_call': {
      const name = required(item.name, [...loc, 'name'])
      const id = required(item.id ?? undefined, [...loc, 'id'])
      addCall(reading, callOf({ ...item, call_id: id, name: `${item.server_label ?? 'mcp'}_${name}` }, loc))
      entries.push({ message: resultOf(id, outputOf(item, loc)) })
      return
    }
    case 'code_interpreter_call': {
      const id = required(item.id ?? undefined, [...loc, 'id'])
      addCall(reading, { id, name: codeToolName, args: { code: item.code ?? '' }, type: 'tool_call' })
      const printed = (item.outputs ?? []).flatMap(({ logs }) => (typeof logs === 'string' ? [logs] : []))
      entries.push({ message: resultOf(id, printed.join('\n') || 'The output is not known.') })
      return
    }
    case 'file_search_call': {
      const id = required(item.id ?? undefined, [...loc, 'id'])
      const args = { query: (item.queries ?? []).join('\n') }
      addCall(reading, { id, name: 'retrieval', args, type: 'tool_call' })
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

function callOf(item: InputItem, loc: Loc): ToolCall {
  const args = argumentsOf(item, loc)
  return {
    id: required(item.call_id, [...loc, 'call_id']),
    name: required(item.name, [...loc, 'name']),
    args,
    type: 'tool_call',
  }
}

function argumentsOf({ arguments: given = '{}' }: InputItem, loc: Loc): Record<string, unknown> {
  const args = typeof given !== 'string' ? given : given === '' ? {} : readJsonObject(given)
  if (args === undefined) throw invalidInput([...loc, 'arguments'], 'is not the text of a JSON object')
  return args
}

/** A call of a tool that the model is offered as a function. */
function otherCall(
  item: InputItem,
  { name, args, shape }: { name: string; args: Record<string, unknown>; shape: CallShape },
  loc: Loc,
): ToolCall {
  return {
    id: required(item.call_id, [...loc, 'call_id']),
    name: offeredName(name, item.namespace),
    args,
    type: 'tool_call',
    shape,
  }
}

function builtInCall(
  item: InputItem,
  type: 'local_shell' | 'shell' | 'apply_patch' | 'tool_search',
  args: Record<string, unknown>,
  loc: Loc,
): ToolCall {
  return otherCall(item, { name: type, args, shape: { type } }, loc)
}

function functionCallOf(item: InputItem, loc: Loc): ToolCall {
  const { name, namespace } = item
  if (!name || !namespace) return callOf(item, loc)
  const call = callOf({ ...item, name: offeredName(name, namespace) }, loc)
  return { ...call, shape: { type: 'function', name, namespace } }
}

function addMessage(reading: Reading, entry: InputEntry): void {
  const isAnswer = 'message' in entry && entry.message.type === 'AIMessage'
  reading.entries.push(isAnswer ? withThought(entry, reading.thought) : entry)
  reading.thought = undefined
}

function withThought<T extends InputEntry>(entry: T, thought: Reading['thought']): T {
  return thought === undefined ? entry : { ...entry, thought }
}

/** Calls that follow each other belong to one answer, as a model makes them; one with a thought of its own begins another. */
function addCall(reading: Reading, call: ToolCall): void {
  const last = reading.entries.at(-1)
  if (reading.thought === undefined && last !== undefined && 'message' in last && last.message.type === 'AIMessage') {
    const { data } = last.message
    const calls = [...(data.tool_calls ?? []), call]
    reading.entries[reading.entries.length - 1] = {
      ...last,
      message: { type: 'AIMessage', data: { ...data, tool_calls: calls } },
    }
    return
  }
  addMessage(reading, { message: { type: 'AIMessage', data: { id: '', content: '', tool_calls: [call] } } })
}

/** As we have sealed it, or in words. */
function thoughtOf({ encrypted_content: sealed, content, summary }: InputItem, loc: Loc): Reading['thought'] {
  const said = [content ?? [], summary ?? []].map((parts, index) =>
    textOf(parts, [...loc, index === 0 ? 'content' : 'summary']),
  )
  const text = said.find((each) => each !== '')
  if (!sealed && text === undefined) return undefined
  return { ...(sealed ? { sealed } : {}), ...(text === undefined ? {} : { text }) }
}

function resultOf(callId: string, content: string, type?: CallOutputType): Message {
  const kind = kindOf(type)
  const data = { id: '', content, tool_call_id: callId, ...(kind === undefined ? {} : { output_type: kind }) }
  return { type: 'ToolMessage', data }
}

/** Results are those of functions unless they say otherwise. */
function kindOf(type: CallOutputType | undefined): CallOutputType | undefined {
  return type === 'function_call_output' ? undefined : type
}

function outputOf(item: InputItem, loc: Loc): string {
  const { output, type } = item
  if (output === null && type === 'mcp_call') return ''
  if (type === 'apply_patch_call_output' && !Array.isArray(output))
    return [item.status ?? '', output ?? ''].filter(Boolean).join(': ')
  if (Array.isArray(output) && !output.every(isPart)) return JSON.stringify(output)
  const given = required(output ?? undefined, [...loc, 'output'])
  return textOf(given, [...loc, 'output'])
}

/** The parts of a result, if one of them is more than text. */
function filesOfOutput({ output, type }: InputItem): Part[] | undefined {
  if (!Array.isArray(output) || type === 'apply_patch_call_output') return undefined
  const parts = output.filter(isPart)
  return parts.length === output.length && parts.some(isFilePart) ? parts : undefined
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

function isPart(part: object): part is Part {
  return 'type' in part
}
type GivenPart = Extract<InputEntry, { parts: unknown }>['parts'][number]

/** Whether a part holds more than text. */
const isFilePart = ({ type }: Part): boolean => type === 'input_image' || type === 'input_file'

/** A part of a person's message. `textOf` reads those that are text. */
function readPart(part: Part, loc: Loc, textOf: (part: Part, loc: Loc) => string): GivenPart {
  if (part.type === 'input_image') return imageOf(part, loc)
  if (part.type === 'input_file') return fileOf(part, loc)
  return { type: 'text', text: textOf(part, loc) }
}

function imageOf({ image_url: url, file_id: fileId, detail }: Part, loc: Loc): GivenPart {
  const shown = detail ? { detail: detailOf(detail, [...loc, 'detail']) } : {}
  if (url && fileId) throw invalidInput([...loc, 'file_id'], 'cannot be combined with image_url')
  if (url) return { type: 'image_url', image_url: { url, ...shown } }
  if (fileId) return { type: 'image_file', image_file: { file_id: fileId, ...shown } }
  throw invalidInput([...loc, 'image_url'], 'is required, or file_id', 'missing')
}

function fileOf({ file_data: data, file_id: fileId, file_url: url, filename }: Part, loc: Loc): GivenPart {
  const name = filename ? { filename } : {}
  if ([data, fileId, url].filter(Boolean).length > 1)
    throw invalidInput([...loc, 'file_data'], 'only one of file_data, file_id and file_url can be sent')
  if (url) return { type: 'file_url', file_url: { url, ...name } }
  if (data) return { type: 'file', file: { file_data: data, ...name } }
  if (fileId) return { type: 'file', file: { file_id: fileId, ...name } }
  throw invalidInput([...loc, 'file_data'], 'is required, or file_id or file_url', 'missing')
}

function detailOf(detail: string, loc: Loc): ImageDetail {
  const known = imageDetails.find((one) => one === detail)
  if (known === undefined) throw invalidInput(loc, `is none of ${imageDetails.join(', ')}`, 'unsupported')
  return known
}
