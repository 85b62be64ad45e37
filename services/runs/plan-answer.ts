import type { PlannedCall, PlannedTools } from '../../domain/contracts/thread.ts'
import type { AIMessage } from '../../domain/messages.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ToolCallRecord } from '../../domain/records/tool-call.ts'
import type { Tool } from '../tool.ts'
import { maxCallsPerStep } from './ledger.ts'

/** How many calls of one answer run at once. */
const parallelCalls = 4

/** Time limit for a call of an unknown tool, which only stores its refusal. */
const unknownToolTimeoutMs = 5000

/** What follows an answer with tool calls. */
export interface AnswerPlan {
  /** The calls that are executed here. */
  calls: PlannedCall[]
  /** Some of them wait: a person can be asked about them. */
  hasWaiting: boolean
  /** Some of them wait and need a person's approval, whatever the assistant's configuration says. */
  needsApproval: boolean
  /** Calls have no result yet that the client executes. */
  needsClient: boolean
  /** The run ends with this answer: its calls are the client's, which brings the results with its next run. */
  isLast: boolean
}

/** `calls` are the entries of the ledger. */
export function planAnswer({
  run,
  message,
  tools,
  calls: entries,
}: {
  run: Pick<RunRecord, 'overrides'>
  message: AIMessage
  tools: Tool[]
  calls: ToolCallRecord[]
}): AnswerPlan {
  const entryOf = new Map(entries.map((entry) => [entry.index, entry]))
  const isLeftOpen = run.overrides.client_calls === 'return'
  const calls: PlannedCall[] = []
  let [needsClient, needsApproval] = [false, false]
  for (const [index, { name, args }] of (message.data.tool_calls ?? []).entries()) {
    const entry = entryOf.get(index)
    const tool = tools.find((candidate) => candidate.name === name)
    if (entry === undefined) needsClient ||= isLeftOpen
    else if (entry.client) needsClient ||= entry.status === 'waiting'
    else if (calls.length < maxCallsPerStep) {
      calls.push(plannedCall(index, tool))
      needsApproval ||= isUndecided(entry) && (tool?.needsApproval?.(args) ?? false)
    }
  }
  return {
    calls,
    hasWaiting: entries.some((entry) => !entry.client && isUndecided(entry)),
    needsApproval,
    needsClient,
    isLast: isLeftOpen && needsClient && entries.length === 0,
  }
}

/** Nobody has said yet whether it may be made. */
function isUndecided({ status, decision }: ToolCallRecord): boolean {
  return status === 'waiting' && decision === undefined
}

/** A name of an unknown tool is not passed to Temporal; no arguments are. */
function plannedCall(index: number, tool: Tool | undefined): PlannedCall {
  const { name = 'unknown_tool', timeoutMs = unknownToolTimeoutMs, safeToRepeat = true } = tool ?? {}
  return { index, name, timeoutMs, safeToRepeat }
}

/**
 * The plan as the workflow executes it. A run that `isWaiting` waits for people and the client at once; otherwise
 * the client has its turn after the calls.
 */
export function plannedStep(
  { calls, needsClient }: AnswerPlan,
  { run, isWaiting }: { run: Pick<RunRecord, 'overrides'>; isWaiting: boolean },
): Pick<PlannedTools, 'calls' | 'parallelCalls' | 'clientTurn' | 'expiresAfterMs'> {
  const { client_calls: mode = 'wait', client_calls_expire_seconds: seconds } = run.overrides
  const waits = needsClient && mode === 'wait'
  return {
    calls,
    parallelCalls,
    ...(needsClient && !(waits && isWaiting) ? { clientTurn: true } : {}),
    ...(waits && seconds !== undefined ? { expiresAfterMs: seconds * 1000 } : {}),
  }
}
