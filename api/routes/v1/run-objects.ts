import type { RunToolChoice } from '../../../domain/client-tools.ts'
import { readClientFunctions } from '../../../domain/client-tools.ts'
import { parseOwnJson } from '../../../domain/json.ts'
import type { RunRecord } from '../../../domain/records/run.ts'
import type { ToolCallRecord } from '../../../domain/records/tool-call.ts'
import type { ListedRun } from '../../../services/runs/index.ts'
import type { V1Assistant } from '../../../services/v1/assistants.ts'
import type { RunOfClient } from '../../../services/v1/runs.ts'
import { lastError, toCompatRun, secondsOf } from '../public/compat-objects.ts'
import type { V1Run } from './run-schemas.ts'

/** What a run shows of its assistant where it says nothing itself; undefined if the assistant is gone. */
export type AssistantOfRun = V1Assistant | undefined

/** A run as the assistants API shows it. */
export function toV1Run({ run, calls }: RunOfClient, assistant: AssistantOfRun): V1Run {
  const { overrides } = run
  const about = { model: overrides.model ?? run.model ?? assistant?.model ?? '', temperature: assistant?.temperature }
  const status = statusOf(run, calls)
  const { last_messages: lastMessages } = overrides
  return {
    ...toCompatRun(run, about),
    status,
    completed_at: status === 'completed' && run.finished_at ? secondsOf(run.finished_at) : null,
    failed_at: status === 'failed' && run.finished_at ? secondsOf(run.finished_at) : null,
    // Only a run that waits for its client expires.
    expires_at: run.status === 'interrupted' && run.expires_at ? secondsOf(run.expires_at) : null,
    required_action: status === 'requires_action' ? requiredAction(calls) : null,
    last_error: status === 'failed' && run.error ? lastError(run.error) : null,
    incomplete_details: incompleteDetails(run),
    instructions: [overrides.system_message ?? assistant?.instructions, overrides.instructions]
      .filter(Boolean)
      .join('\n\n'),
    tools: toolsOf(run, assistant),
    max_prompt_tokens: overrides.max_prompt_tokens ?? null,
    max_completion_tokens: overrides.max_completion_tokens ?? null,
    truncation_strategy: {
      type: lastMessages === undefined ? 'auto' : 'last_messages',
      last_messages: lastMessages ?? null,
    },
    tool_choice: toolChoiceOf(run),
    parallel_tool_calls: overrides.parallel_tool_calls ?? true,
  }
}

/** A run that waits for a person's decision is `in_progress`: its caller can only wait. */
function statusOf(run: ListedRun, calls: ToolCallRecord[]): V1Run['status'] {
  switch (run.status) {
    case 'pending':
      return 'queued'
    case 'running':
      return 'in_progress'
    case 'interrupted':
      return calls.length > 0 ? 'requires_action' : 'in_progress'
    case 'success':
      return run.finish_reason === 'length' ? 'incomplete' : 'completed'
    case 'cancelled':
      return 'cancelled'
    case 'error':
      if (run.error?.type === 'expired') return 'expired'
      return incompleteDetails(run) === null ? 'failed' : 'incomplete'
  }
}

function incompleteDetails({ status, error, finish_reason: reason }: ListedRun): V1Run['incomplete_details'] {
  if (status === 'success' && reason === 'length') return { reason: 'max_completion_tokens' }
  const type = error?.type
  return type === 'max_completion_tokens' || type === 'max_prompt_tokens' ? { reason: type } : null
}

function requiredAction(calls: ToolCallRecord[]): V1Run['required_action'] {
  const shown = calls.map(({ call_id: id, name, args_json: text }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: text },
  }))
  return { type: 'submit_tool_outputs', submit_tool_outputs: { tool_calls: shown } }
}

function toolsOf({ overrides }: Pick<RunRecord, 'overrides'>, assistant: AssistantOfRun): V1Run['tools'] {
  if (overrides.server_tools === undefined) return assistant?.tools ?? []
  return [
    ...(overrides.server_tools.includes('retrieval') ? [{ type: 'file_search' }] : []),
    ...(overrides.server_tools.includes('code') ? [{ type: 'code_interpreter' }] : []),
    ...readClientFunctions(overrides.tools_json).map((called) => ({ type: 'function', function: called })),
  ]
}

function toolChoiceOf({ overrides }: Pick<RunRecord, 'overrides'>): unknown {
  if (overrides.tool_choice_json === undefined) return 'auto'
  const choice = parseOwnJson<RunToolChoice>(overrides.tool_choice_json)
  if (typeof choice === 'string') return choice
  if (choice.type === 'retrieval') return { type: 'file_search' }
  return choice.type === 'code' ? { type: 'code_interpreter' } : choice
}
