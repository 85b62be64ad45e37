import { Value } from 'typebox/value'
import { type ClientFunction, ToolChoice, clientFunctionsText } from '../../../domain/client-tools.ts'
import { ContentPartInput } from '../../../domain/content-parts.ts'
import { invalidInput } from '../../../domain/errors.ts'
import type { RunMessageInput } from '../../../domain/messages.ts'
import { readPartialObject } from '../../../domain/partial-json.ts'
import type { RunOverrides } from '../../../domain/records/run.ts'
import type { ChatMessage, ContentPart } from './chat-schemas.ts'

type Loc = (string | number)[]

/** Converts the messages of a chat-completions request. Throws `invalid_input` for content that cannot be read. */
export function messagesOfChat(messages: ChatMessage[]): RunMessageInput[] {
  return withCallIds(messages).map((message, index) => messageOf(message, ['body', 'messages', index]))
}

/** Calls and results by their old names have no ids: a result follows its call. */
function withCallIds(messages: ChatMessage[]): ChatMessage[] {
  let count = 0
  return messages.map((message): ChatMessage => {
    const { role, function_call: call } = message
    if (role === 'assistant' && call) {
      count += 1
      const own = { id: `function_${count}`, function: call }
      return { ...message, tool_calls: [...(message.tool_calls ?? []), own] }
    }
    return role === 'function' ? { ...message, role: 'tool', tool_call_id: `function_${count}` } : message
  })
}

function messageOf(message: ChatMessage, loc: Loc): RunMessageInput {
  const at = [...loc, 'content']
  const name = message.name ? { name: message.name } : {}
  if (message.role === 'user') {
    requireContent(message.content, at)
    return { type: 'HumanMessage', data: { content: partsOf(message.content ?? '', at), ...name } }
  }
  const data = { content: textOf(message.content ?? message.refusal ?? '', at), ...name }
  switch (message.role) {
    case 'system':
    case 'developer':
      return { type: 'SystemMessage', data }
    case 'assistant': {
      const calls = (message.tool_calls ?? []).flatMap(({ id, function: called }) =>
        called === undefined
          ? []
          : [{ id, name: called.name, args: readPartialObject(called.arguments), type: 'tool_call' as const }],
      )
      return { type: 'AIMessage', data: { ...data, ...(calls.length > 0 ? { tool_calls: calls } : {}) } }
    }
    case 'tool':
    case 'function':
      if (!message.tool_call_id)
        throw invalidInput([...loc, 'tool_call_id'], 'is required of a tool message', 'missing')
      return { type: 'ToolMessage', data: { ...data, tool_call_id: message.tool_call_id } }
  }
}

/** Throws `invalid_input` for missing content; an empty text is content. */
export function requireContent(content: string | ContentPart[] | null | undefined, loc: Loc): void {
  if (content === undefined || content === null || (Array.isArray(content) && content.length === 0))
    throw invalidInput(loc, 'is required of a message of role user', 'missing')
}

/** Text, and parts of which one at least is not text. */
function partsOf(content: string | ContentPart[], loc: Loc): string | ContentPartInput[] {
  if (typeof content === 'string' || content.every(isText)) return textOf(content, loc)
  return content.map((part, index) => {
    if (Value.Check(ContentPartInput, part)) return part
    const isKnown = ['text', 'image_url', 'input_audio', 'file'].includes(part.type)
    throw invalidInput(
      [...loc, index, ...(isKnown ? [part.type] : [])],
      isKnown ? `is missing, wrong or too long` : `${part.type} is not available here`,
      isKnown ? 'type' : 'unsupported',
    )
  })
}

const isText = ({ type }: ContentPart) => type === 'text' || type === 'refusal'

/**
 * Content as a text, or in parts that are joined. Images, sound and files are refused, because the answer would be
 * wrong without them.
 */
export function textOf(content: string | ContentPart[], loc: Loc): string {
  if (typeof content === 'string') return content
  return content
    .map((part, index) => {
      const text = part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : undefined
      if (text === undefined) throw invalidInput([...loc, index], `parts of type ${part.type} are not supported`)
      return text
    })
    .join('')
}

type GivenTool = { type: string; function?: ClientFunction } & Partial<ClientFunction>

interface ToolMembers {
  tools?: GivenTool[] | null
  tool_choice?: unknown
  parallel_tool_calls?: boolean | null
  functions?: ClientFunction[] | null
  function_call?: 'none' | 'auto' | { name: string } | null
}

/** Whether a request names its functions as the interface once did: then the answer does it, too. */
export const usesOldNames = ({ functions }: Pick<ToolMembers, 'functions'>): boolean => (functions ?? []).length > 0

/** The functions that a request brings: in `tools`, or by their old name. */
export function functionsOf({ tools, functions }: Pick<ToolMembers, 'tools' | 'functions'>): ClientFunction[] {
  const given = (tools ?? []).map((tool, index) => {
    const { type, function: inner, name, description, parameters, strict } = tool
    const loc = ['body', 'tools', index]
    if (type !== 'function') throw invalidInput([...loc, 'type'], `${type} is not available here`, 'unsupported')
    if (inner !== undefined) return inner
    if (name === undefined) throw invalidInput([...loc, 'function'], 'is required of the type function', 'missing')
    return { name, ...defined({ description, parameters, strict }) }
  })
  return [...given, ...(functions ?? [])]
}

function defined<T extends object>(members: T): Partial<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>
}

/**
 * The functions of a request as a run stores them, and what the model may do with them: a run that calls one ends with
 * the call. Throws `invalid_input` for tools of other types, and for a choice of a function that is not among them.
 */
export function toolOverridesOf(requested: ToolMembers): RunOverrides {
  const { parallel_tool_calls: parallel } = requested
  const functions = functionsOf(requested)
  const hasTools = functions.length > 0
  return {
    client_calls: 'return',
    ...(hasTools ? { tools_json: clientFunctionsText(functions, ['body', 'tools']) } : {}),
    ...chosenOf(requested, new Set(functions.map(({ name }) => name))),
    ...parallelOf(hasTools, usesOldNames(requested) ? false : parallel),
  }
}

/** By the old names, an answer has one call at most. */
function parallelOf(
  hasTools: boolean,
  parallel: boolean | null | undefined,
): Pick<RunOverrides, 'parallel_tool_calls'> {
  return hasTools && typeof parallel === 'boolean' ? { parallel_tool_calls: parallel } : {}
}

/** `function_call` counts with the functions that it belongs to, and where it demands one. */
function chosenOf(requested: ToolMembers, names: Set<string>): Pick<RunOverrides, 'tool_choice_json'> {
  const { tool_choice: choice, function_call: old } = requested
  if (choice !== undefined && choice !== null) return choiceOf(choice, names, ['body', 'tool_choice'])
  if (typeof old === 'object' && old !== null)
    return choiceOf({ type: 'function', function: { name: old.name } }, names, ['body', 'function_call'])
  return usesOldNames(requested) ? choiceOf(old, names, ['body', 'function_call']) : {}
}

/** Without tools, `auto` and `none` are the default, and leave the assistant its own tools. */
function choiceOf(choice: unknown, names: Set<string>, loc: string[]): Pick<RunOverrides, 'tool_choice_json'> {
  if (choice === undefined || choice === null || choice === 'auto') return {}
  if (choice === 'none' && names.size === 0) return {}
  if (!Value.Check(ToolChoice, choice)) throw invalidInput(loc, 'is not a choice of functions', 'unsupported')
  if (typeof choice !== 'string') {
    if (choice.type === 'retrieval') throw invalidInput(loc, 'is not a choice of functions', 'unsupported')
    const chosen = choice.type === 'function' ? [choice.function.name] : choice.allowed_tools.tools.map(nameOf)
    const unknown = chosen.find((name) => !names.has(name))
    if (unknown !== undefined) throw invalidInput(loc, `there is no function ${unknown} in the request`, 'unsupported')
  }
  return { tool_choice_json: JSON.stringify(choice) }
}

const nameOf = ({ function: { name } }: { function: { name: string } }) => name
