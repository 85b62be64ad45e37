import { isJsonObject, objectFromJsonText } from '../../../../domain/json.ts'
import { type CitedFile, citedFilesOf } from '../../../../domain/knowledge/citations.ts'
import type { AIMessage, Message } from '../../../../domain/messages.ts'
import type { Metadata } from '../../../../domain/metadata.ts'
import { ownerRunError } from '../../../../domain/public-run-error.ts'
import { type RunError, type RunRecord, type Usage, isOpenRun } from '../../../../domain/records/run.ts'
import { type ResponseFacts, callContextOf } from '../../../../domain/responses/facts.ts'
import { compactionId, conversationId, responseId } from '../../../../domain/responses/ids.ts'
import { type ItemContext, outputOf } from '../../../../domain/responses/items-of.ts'
import type { Compaction, McpListTools } from '../../../../domain/responses/items.ts'
import { toContainer } from '../../../../domain/responses/to-container.ts'
import { sourcesBefore } from '../../../../domain/responses/web-sources.ts'
import { writtenBefore } from '../../../../domain/responses/written-files.ts'
import type { ResponseRun } from '../../../../services/v1/responses/index.ts'
import { secondsOf } from '../../public/compat-objects.ts'
import type { ResponseShape } from './response-schemas.ts'

/** What may be shown in addition. */
export interface Included {
  /** Results of searches. */
  results: boolean
  /** The addresses that a web search has found. */
  sources?: boolean
  /** The probabilities of tokens. */
  logprobs?: boolean
  /** What the model thought, sealed. */
  reasoning?: boolean
  /** What code has printed and drawn. */
  outputs?: boolean
}

/** With the address of the service. */
export interface Shown extends Included {
  baseUrl: string
}

/** Seals what a model thought before a message. */
export type SealThought = (message: AIMessage) => string

interface ContextOf {
  run: Pick<RunRecord, '_id' | 'thread_id'>
  facts: Pick<
    ResponseFacts,
    'approvals' | 'approved' | 'compaction' | 'container' | 'functions' | 'listed' | 'serverLabels' | 'shapes' | 'shown'
  >
}

/** How the items of a run are shown. `messages` are those that the run has added, as they are when it is called. */
export function itemContext(
  { run, facts }: ContextOf,
  messages: () => Message[],
  {
    results,
    sources = false,
    logprobs = false,
    outputs = false,
    reasoning = false,
    baseUrl,
    seal,
    isOpen,
  }: Shown & { seal?: SealThought | undefined; isOpen: boolean },
): ItemContext {
  const cited = (_message: AIMessage): CitedFile[] =>
    citedFilesOf(
      new Set([run._id]),
      messages().map((message) => ({ message, runId: run._id })),
    ).get(run._id) ?? []
  return {
    cited,
    ...callContextOf(facts),
    reasoning: {
      isSummary: wantsSummary(facts.shown['reasoning']),
      seal: reasoning ? seal : undefined,
    },
    sources: ({ data: { id } }) => sourcesBefore(messages()).get(id) ?? [],
    withResults: results,
    withSources: sources,
    written: ({ data: { id } }) => writtenBefore(messages()).get(id) ?? [],
    container: toContainer(facts.container ?? run.thread_id, baseUrl),
    withLogprobs: logprobs || Boolean(facts.shown['top_logprobs']),
    withOutputs: outputs,
    isOpen,
  }
}

function wantsSummary(shown: unknown): boolean {
  const summary = isJsonObject(shown) ? (shown['summary'] ?? shown['generate_summary']) : undefined
  return typeof summary === 'string' && summary !== 'none'
}

/** A response with the messages that its run has added. */
export function toResponse(
  response: ResponseRun,
  messages: Message[],
  included: Shown & { seal?: SealThought | undefined },
): ResponseShape {
  const { run, facts } = response
  const context = itemContext(response, () => messages, { ...included, isOpen: isOpenRun(run) })
  const output = [...firstItems(response), ...outputOf(messages, context)]
  const end = endOf(run, messages)
  return {
    id: responseId(run._id),
    object: 'response',
    created_at: secondsOf(run.created_at),
    completed_at: end.status === 'completed' && run.finished_at ? secondsOf(run.finished_at) : null,
    ...end,
    background: facts.background ?? false,
    ...membersOf(facts),
    output,
    output_text: output
      .map((item) =>
        item.type === 'message' ? item.content.map((part) => (part.type === 'refusal' ? '' : part.text)).join('') : '',
      )
      .join(''),
    ...(facts.warnings === undefined ? {} : { warnings: facts.warnings }),
    store: !facts.isUnstored,
    metadata: run.metadata_json === undefined ? {} : (objectFromJsonText(run.metadata_json) as Metadata),
    usage: run.usage === undefined ? null : usageIn(run.usage),
  }
}

/** The first items of the output: the summary of what was said before, and what the MCP servers of the request offered. */
export function firstItems({ run, facts }: ContextOf): (Compaction | McpListTools)[] {
  const { compaction, listed = [] } = facts
  return [
    ...(compaction === undefined
      ? []
      : [{ id: compactionId(run._id), type: 'compaction' as const, encrypted_content: compaction }]),
    ...listed.map((tools, index) => ({
      id: `mcpl_${run._id}_${index}`,
      type: 'mcp_list_tools' as const,
      ...tools,
      error: null,
    })),
  ]
}

type End = Pick<ResponseShape, 'status' | 'error' | 'incomplete_details'>

function endOf(run: RunRecord, messages: Message[]): End {
  const nothing = { error: null, incomplete_details: null }
  switch (run.status) {
    case 'pending':
      return { ...nothing, status: 'queued' }
    case 'running':
    case 'interrupted':
      return { ...nothing, status: 'in_progress' }
    case 'cancelled':
      return { ...nothing, status: 'cancelled' }
    case 'error':
      // Its steps have used up the limit of the request.
      if (run.error?.type === 'max_completion_tokens')
        return { ...nothing, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
      return { ...nothing, status: 'failed', error: run.error ? toError(run.error) : unknownError }
    case 'success': {
      const cut = messages.findLast((message) => message.type === 'AIMessage')?.data.cut
      if (cut === undefined) return { ...nothing, status: 'completed' }
      const reason = cut === 'length' ? 'max_output_tokens' : cut
      return { ...nothing, status: 'incomplete', incomplete_details: { reason } }
    }
  }
}

const unknownError = { code: 'server_error', message: 'The run failed.' }

export function toError(error: RunError): { code: string; message: string } {
  const { status_code: status, message, type } = ownerRunError(error)
  if (type === 'context_length_exceeded') return { code: type, message }
  const code = status === 429 ? 'rate_limit_exceeded' : status < 499 ? 'invalid_prompt' : 'server_error'
  return { code, message }
}

export function usageIn(usage: Usage): NonNullable<ResponseShape['usage']> {
  return {
    input_tokens: usage.prompt_tokens,
    input_tokens_details: {
      cached_tokens: usage.cached_tokens ?? 0,
      cache_write_tokens: usage.cache_write_tokens ?? 0,
    },
    output_tokens: usage.completion_tokens,
    output_tokens_details: { reasoning_tokens: usage.reasoning_tokens ?? 0 },
    total_tokens: usage.total_tokens,
  }
}

/** Members of the request, as they were sent; defaults for the others. */
function membersOf({
  model,
  instructions,
  previous_response_id: previous,
  conversation_id: conversation,
  shown,
}: ResponseFacts) {
  return {
    model,
    instructions: instructions ?? null,
    previous_response_id: previous ?? null,
    conversation: conversation === undefined ? null : { id: conversationId(conversation) },
    ...defaults,
    ...(shown as Partial<typeof defaults>),
  }
}

const defaults: Pick<
  ResponseShape,
  | 'tools'
  | 'tool_choice'
  | 'parallel_tool_calls'
  | 'max_output_tokens'
  | 'max_tool_calls'
  | 'temperature'
  | 'top_p'
  | 'presence_penalty'
  | 'frequency_penalty'
  | 'top_logprobs'
  | 'text'
  | 'reasoning'
  | 'truncation'
  | 'service_tier'
  | 'user'
  | 'safety_identifier'
  | 'prompt_cache_key'
> = {
  tools: [],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  max_output_tokens: null,
  max_tool_calls: null,
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  text: { format: { type: 'text' } },
  reasoning: { effort: null, summary: null },
  truncation: 'auto',
  service_tier: 'default',
  user: null,
  safety_identifier: null,
  prompt_cache_key: null,
}
