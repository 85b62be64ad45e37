import type { MessagePart } from '../content-parts.ts'
import { type CallResults, type ToolMessage, resultsOfCalls } from '../conversation.ts'
import { foreignJson, parseForeignJson } from '../foreign-json.ts'
import { isJsonObject } from '../json.ts'
import { type CitedFile, citationsIn } from '../knowledge/citations.ts'
import type { AIMessage, Message, TokenLogprob, ToolCall } from '../messages.ts'
import { type CallShapes, clientCall, outputTypeOf } from './client-calls.ts'
import { callItemId, isOfClient, messageItemId, outputItemId, reasoningItemId } from './ids.ts'
import type {
  CodeInterpreterCall,
  ContainerFileCitation,
  FileSearchCall,
  InputPart,
  Logprob,
  McpApprovalRequest,
  McpApprovalResponse,
  McpCall,
  OutputItem,
  OutputMessage,
  OutputText,
  Reasoning,
  ResponseItem,
  WebSearchCall,
} from './items.ts'
import { type WebSource, sourcesIn, urlCitations } from './web-sources.ts'
import { type WrittenFile, codeToolName, mentionsOf, writtenBy } from './written-files.ts'

/** What is known about messages beside their text. */
export interface ItemContext {
  /** The files that the run has found passages of. */
  cited: (message: AIMessage) => CitedFile[]
  /** The names of the client's functions. Undefined: a call without a result of ours is one of the client. */
  functions: ReadonlySet<string> | undefined
  /** The labels of the MCP servers that the request named, which begin the names of their tools. */
  serverLabels: readonly string[]
  /** How calls of the client's tools are shown that are no plain functions. */
  shapes: CallShapes
  /** Pages that the run had found on the web before the message. */
  sources: (message: AIMessage) => WebSource[]
  /** Files that code of the run had written before the message. */
  written: (message: AIMessage) => WrittenFile[]
  /** Where the run's code is executed. */
  container: ContainerFiles
  /** Whether results of searches are shown. */
  withResults: boolean
  /** Whether the addresses that a web search has found are shown. */
  withSources?: boolean
  /** Whether the probabilities of tokens are shown. */
  withLogprobs?: boolean
  /** Names of tools of MCP servers whose calls a person must allow. */
  approvals?: ReadonlySet<string>
  /** Calls that a person has allowed, by their ids, with the ids of the items that asked. */
  approved?: ReadonlyMap<string, string>
  /** How what the model thought is shown; default: as text. */
  reasoning?: ReasoningForm
  /** Whether outputs of code are shown. */
  withOutputs?: boolean
  /** The run may still add results. */
  isOpen: boolean
}

interface ReasoningForm {
  isSummary: boolean
  /** Seals what the model thought, for a client that keeps the conversation itself. */
  seal?: ((message: AIMessage) => string) | undefined
}

export interface ContainerFiles {
  id: string
  /** The address of the content of one of its files. */
  linkOf(fileId: string): string
}

type TextContext = Pick<ItemContext, 'cited' | 'sources' | 'written' | 'container' | 'withLogprobs'>
type ServerCall = FileSearchCall | WebSearchCall | CodeInterpreterCall | McpCall

/** What is known of the calls of a message by the response that it belongs to. */
export type CallContext = Partial<Pick<ItemContext, 'approvals' | 'approved' | 'functions' | 'serverLabels' | 'shapes'>>

/**
 * The items of messages, in their order. Results of the service's own tools are part of their calls. `ofMessage`: what
 * is known of single messages, where they belong to different responses.
 */
export function itemsOf(
  messages: readonly Message[],
  shared: ItemContext,
  ofMessage: (message: AIMessage) => CallContext = () => ({}),
): ResponseItem[] {
  const results = resultsOfCalls(messages)
  const calls = callsByResult(messages, results)
  const requestIdsOf = requestIds(messages, results)
  return messages.flatMap((message): ResponseItem[] => {
    switch (message.type) {
      case 'HumanMessage':
      case 'SystemMessage':
        return [inputMessage(message)]
      case 'AIMessage':
        return outputItemsOf(message, results, { ...shared, ...ofMessage(message) })
      case 'ToolMessage': {
        const { call, by } = calls.get(message) ?? {}
        const context = by === undefined ? shared : { ...shared, ...ofMessage(by) }
        if (call !== undefined && awaitsApproval(call, message, context))
          return [approvalResponse(message, requestIdsOf.get(message))]
        if (call !== undefined && !isFunction(call, message, context)) return []
        return [
          {
            id: outputItemId(message.data.id),
            type: message.data.output_type ?? outputTypeOf(call && (call.shape ?? context.shapes.get(call.name))),
            status: 'completed',
            call_id: message.data.tool_call_id,
            output: outputOfCall(message),
          },
        ]
      }
    }
  })
}

/** The output items of a run's messages. */
export function outputOf(messages: readonly Message[], context: ItemContext): OutputItem[] {
  const results = resultsOfCalls(messages)
  return messages.flatMap((message) => (message.type === 'AIMessage' ? outputItemsOf(message, results, context) : []))
}

function outputItemsOf(message: AIMessage, results: CallResults, context: ItemContext): OutputItem[] {
  const { content, refusal, tool_calls: calls = [] } = message.data
  const hasThought = (message.data.reasoning ?? '') !== ''
  return [
    ...(hasThought ? [reasoningItem(message, context)] : []),
    ...(content === '' && refusal === undefined && calls.length > 0 ? [] : [messageItem(message, context)]),
    ...calls.map((call, index) => callItem(message, index, results, context)),
  ]
}

function callsByResult(messages: readonly Message[], results: CallResults) {
  const calls = messages.flatMap((by) =>
    by.type === 'AIMessage'
      ? (by.data.tool_calls ?? []).map((call, index) => [results.get(by.data.id)?.[index], { call, by }] as const)
      : [],
  )
  return new Map(calls.flatMap(([result, call]) => (result === undefined ? [] : [[result, call] as const])))
}

/** By a result, the id of the item that asked for it. */
function requestIds(messages: readonly Message[], results: CallResults): Map<ToolMessage, string> {
  return new Map(
    messages.flatMap(({ data: { id } }) =>
      (results.get(id) ?? []).flatMap((result, index) =>
        result === undefined ? [] : [[result, callItemId('mcpr', id, index)] as const],
      ),
    ),
  )
}

function approvalResponse({ data }: ToolMessage, requestId = ''): McpApprovalResponse {
  return {
    id: outputItemId(data.id),
    type: 'mcp_approval_response',
    approval_request_id: requestId,
    approve: data.rejected !== true,
  }
}

function inputMessage(message: Extract<Message, { type: 'HumanMessage' | 'SystemMessage' }>): ResponseItem {
  return {
    id: messageItemId(message.data.id),
    type: 'message',
    status: 'completed',
    role: message.type === 'HumanMessage' ? 'user' : 'system',
    content: inputParts(message),
  }
}

/** Of a result with pictures and files, the text before them. */
function outputOfCall({ data: { content, parts = [] } }: ToolMessage): string | InputPart[] {
  if (parts.length === 0) return content
  return [...(content === '' ? [] : [{ type: 'input_text' as const, text: content }]), ...parts.map(inputPart)]
}

function inputParts(message: Extract<Message, { type: 'HumanMessage' | 'SystemMessage' }>): InputPart[] {
  const parts = message.type === 'HumanMessage' ? message.data.parts : undefined
  if (parts === undefined) return [{ type: 'input_text', text: message.data.content }]
  return parts.map(inputPart)
}

function inputPart(part: MessagePart): InputPart {
  if (part.type === 'text') return { type: 'input_text', text: part.text }
  if (part.type === 'image')
    return { type: 'input_image', detail: part.detail ?? 'auto', file_id: null, image_url: null }
  return { type: 'input_file', file_id: null, filename: part.type === 'file' ? part.name : part.content_type }
}

export function reasoningItem(
  message: AIMessage,
  { reasoning: { isSummary, seal } = { isSummary: false } }: Pick<ItemContext, 'reasoning'>,
): Reasoning {
  const { id, reasoning = '' } = message.data
  return {
    id: reasoningItemId(id),
    type: 'reasoning',
    status: 'completed',
    summary: isSummary ? [{ type: 'summary_text', text: reasoning }] : [],
    ...(isSummary ? {} : { content: [{ type: 'reasoning_text', text: reasoning }] }),
    ...(seal === undefined ? {} : { encrypted_content: seal(message) }),
  }
}

export function messageItem(message: AIMessage, context: TextContext): OutputMessage {
  return {
    id: messageItemId(message.data.id),
    type: 'message',
    status: message.data.incomplete || message.data.cut ? 'incomplete' : 'completed',
    role: 'assistant',
    content: partsOf(message, context),
  }
}

/** The text, which is left out only beside a refusal, and the refusal. */
function partsOf(message: AIMessage, context: TextContext): OutputMessage['content'] {
  const { content, refusal } = message.data
  if (refusal === undefined) return [textPart(message, context)]
  return [...(content === '' ? [] : [textPart(message, context)]), { type: 'refusal', refusal }]
}

export function textPart(message: AIMessage, context: TextContext): OutputText {
  const { cited, sources, withLogprobs = false } = context
  const text = message.data.content
  const files = cited(message)
  const names = new Map(files.map(({ id, name }) => [id, name]))
  const annotations = citationsIn(text, files).map(({ fileId, start }) => ({
    type: 'file_citation' as const,
    file_id: fileId,
    filename: names.get(fileId) ?? '',
    index: start,
  }))
  const pages = text === '' ? [] : sources(message)
  return {
    type: 'output_text',
    text,
    annotations: [
      ...annotations,
      ...(pages.length === 0 ? [] : urlCitations(text, pages)),
      ...(text === '' ? [] : containerCitations(message, context)),
    ],
    logprobs: withLogprobs ? (message.data.logprobs ?? []).map(toLogprob) : [],
  }
}

/** The files that the text names, and those that were written for it. */
function containerCitations(message: AIMessage, { written, container }: TextContext): ContainerFileCitation[] {
  const files = written(message)
  if (files.length === 0) return []
  const mentions = mentionsOf(message.data.content, files)
  const named = new Set(mentions.map(({ file }) => file.path))
  const others = files.filter(({ path, isNew }) => isNew && !named.has(path))
  return [...mentions, ...others.map((file) => ({ file, start: 0, end: 0 }))].map(({ file, start, end }) => ({
    type: 'container_file_citation',
    container_id: container.id,
    file_id: file.containerFileId,
    filename: file.path,
    start_index: start,
    end_index: end,
  }))
}

function toLogprob({ top_logprobs: others, ...token }: TokenLogprob): Logprob {
  const shown = ({ bytes, ...more }: Omit<TokenLogprob, 'top_logprobs'>) => ({ ...more, bytes: bytes ?? [] })
  return { ...shown(token), top_logprobs: others.map(shown) }
}

/** Whether the client executes the call. */
export function isFunction(
  call: ToolCall,
  result: ToolMessage | undefined,
  { approvals, functions }: ItemContext,
): boolean {
  if (approvals?.has(call.name)) return false
  if (functions !== undefined) return functions.has(call.name)
  return result === undefined || isOfClient(result.data.id)
}

function callItem(message: AIMessage, index: number, results: CallResults, context: ItemContext): OutputItem {
  const call = message.data.tool_calls?.[index]
  if (call === undefined) throw new Error('there is no such call')
  const result = results.get(message.data.id)?.[index]
  if (isFunction(call, result, context)) return clientCall({ messageId: message.data.id, index, call }, context.shapes)
  const location = { messageId: message.data.id, index, call }
  if (awaitsApproval(call, result, context)) return approvalRequest(location, context)
  return serverCall({ ...location, result }, context)
}

/** Whether a person is asked, or was, before the call is made. */
export function awaitsApproval(call: ToolCall, result: ToolMessage | undefined, context: ItemContext): boolean {
  if (context.approvals?.has(call.name) !== true) return false
  // What the client says of the call is its decision.
  return result === undefined ? context.approved?.has(call.id) !== true : isOfClient(result.data.id)
}

export function approvalRequest(
  { messageId, index, call }: Omit<CallOfServer, 'result'>,
  context: Pick<ItemContext, 'serverLabels'>,
): McpApprovalRequest {
  return {
    id: callItemId('mcpr', messageId, index),
    type: 'mcp_approval_request',
    ...remoteTool(call, context),
    arguments: JSON.stringify(call.args),
  }
}

interface CallOfServer {
  messageId: string
  index: number
  call: ToolCall
  result: ToolMessage | undefined
}

/** A call of a tool that the service executes. Of tools that this API does not know, as a call of an MCP server. */
export function serverCall({ messageId, index, call, result }: CallOfServer, context: ItemContext): ServerCall {
  const open = context.isOpen ? 'in_progress' : 'incomplete'
  const query = typeof call.args['query'] === 'string' ? call.args['query'] : ''
  if (call.name === 'retrieval')
    return {
      id: callItemId('fs', messageId, index),
      type: 'file_search_call',
      status: result === undefined ? open : 'completed',
      queries: [query],
      results: context.withResults && result !== undefined ? searchResults(result.data.content) : null,
    }
  if (call.name === 'web_search')
    return {
      id: callItemId('ws', messageId, index),
      type: 'web_search_call',
      status: result === undefined ? open : 'completed',
      action: {
        type: 'search',
        query,
        queries: [query],
        ...(context.withSources && result !== undefined
          ? { sources: sourcesIn(result.data.content).map(({ url }) => ({ type: 'url' as const, url })) }
          : {}),
      },
    }
  if (call.name === codeToolName)
    return {
      id: callItemId('ci', messageId, index),
      type: 'code_interpreter_call',
      status: result === undefined ? open : 'completed',
      code: typeof call.args['code'] === 'string' ? call.args['code'] : null,
      container_id: context.container.id,
      outputs: context.withOutputs && result !== undefined ? outputsOfCode(result, context.container) : null,
    }
  return {
    id: callItemId('mcp', messageId, index),
    type: 'mcp_call',
    status: result === undefined ? open : 'completed',
    ...remoteTool(call, context),
    arguments: JSON.stringify(call.args),
    output: result?.data.content ?? null,
    error: null,
    approval_request_id: context.approved?.get(call.id) ?? null,
  }
}

function remoteTool({ name }: ToolCall, { serverLabels }: Pick<ItemContext, 'serverLabels'>) {
  const label = serverLabels.find((each) => name.startsWith(`${each}_`))
  return {
    server_label: label ?? 'assistant',
    name: label === undefined ? name : name.slice(label.length + 1),
  }
}

function outputsOfCode(result: ToolMessage, { linkOf }: ContainerFiles): NonNullable<CodeInterpreterCall['outputs']> {
  const images = writtenBy(result).filter(({ isImage }) => isImage)
  return [
    { type: 'logs', logs: result.data.content },
    ...images.map((file) => ({ type: 'image' as const, url: linkOf(file.containerFileId) })),
  ]
}

/** Results of `retrieval`; imported threads can hold anything under this name. */
function searchResults(content: string): NonNullable<FileSearchCall['results']> {
  const found = parsed(content)
  const passages = isJsonObject(found) && Array.isArray(found['passages']) ? found['passages'] : []
  return passages.flatMap((passage: unknown) => {
    if (!isJsonObject(passage)) return []
    const { file_id: fileId, file_name: filename, text, score } = passage
    if (typeof filename !== 'string' || typeof text !== 'string') return []
    return [
      {
        file_id: typeof fileId === 'string' ? fileId : '',
        filename,
        text,
        ...(typeof score === 'number' ? { score } : {}),
      },
    ]
  })
}

function parsed(content: string): unknown {
  try {
    return parseForeignJson(content, { ...foreignJson, bytes: maxResultBytes })
  } catch {
    return undefined
  }
}

const maxResultBytes = 512 * 1024
