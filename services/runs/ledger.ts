import type { PlannedCall, PlannedTools } from '../../domain/contracts/thread.ts'
import { toolMessageOf, unknownOutcome } from '../../domain/conversation.ts'
import type { AIMessage, Message } from '../../domain/messages.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import { type CallResult, type ToolCallRecord, toolCallKey } from '../../domain/records/tool-call.ts'
import { readApprovedCalls } from '../../domain/run-overrides.ts'
import type { Collections } from '../collections.ts'
import type { Tool } from '../tool.ts'
import { ledgerStore } from './store.ts'

/** How many calls of one answer are executed here; the others are answered with an error. */
const maxCallsPerStep = 16

/** How many calls a run may still execute here, before this step; undefined: any number. */
export async function callsLeftFor(
  collections: Pick<Collections, 'toolCalls'>,
  { _id, overrides: { max_tool_calls: limit } }: RunRecord,
  step: number,
): Promise<number | undefined> {
  if (limit === undefined || step === 0) return limit
  return Math.max(0, limit - (await ledgerStore(collections).countMade(_id, step)))
}

/**
 * The ledger entries of an answer. Calls that are not made get their result at once: those above a limit, and the
 * `unreadable` ones. Calls that end the run, because the client brings their results with its next run, have no entry.
 */
export function ledgerEntries(
  run: RunRecord,
  step: number,
  message: AIMessage,
  {
    tools,
    unreadable,
    callsLeft = Infinity,
  }: { tools: Tool[]; unreadable: ReadonlySet<number>; callsLeft?: number | undefined },
): ToolCallRecord[] {
  const now = new Date()
  const clientTools = new Set(tools.filter((tool) => tool.isClient).map(({ name }) => name))
  const isLeftOpen = run.overrides.client_calls === 'return'
  const asking = new Set(tools.filter((tool) => tool.asksClient).map(({ name }) => name))
  const approved = new Set(
    step === 0 ? readApprovedCalls(run.overrides.approved_calls_json).map(({ call }) => call.id) : [],
  )
  let ownCalls = 0
  return (message.data.tool_calls ?? []).flatMap((call, index) => {
    const isClient = clientTools.has(call.name)
    const isUnreadable = unreadable.has(index)
    // Another tool of that name is the assistant's, whose owner is asked.
    const isApproved = approved.has(call.id) && asking.has(call.name)
    if (isLeftOpen && !isUnreadable && (isClient || (asking.has(call.name) && !isApproved))) return []
    if (!isClient) ownCalls += 1
    const refused = isUnreadable ? unreadableArguments : isClient ? undefined : refusalOf(ownCalls)
    return {
      _id: toolCallKey(run._id, step, index),
      run_id: run._id,
      thread_id: run.thread_id,
      step,
      index,
      call_id: call.id,
      name: call.name,
      args_json: JSON.stringify(call.args),
      ...(isClient ? { client: true } : {}),
      ...(isApproved ? { decision: { action: 'approve' as const } } : {}),
      created_at: now,
      ...resultOf(refused),
    }
  })

  function refusalOf(count: number): string | undefined {
    if (count > callsLeft) return `This call was not made: ${run.overrides.max_tool_calls} calls are allowed in all.`
    return count > maxCallsPerStep ? tooManyCalls : undefined
  }

  function resultOf(refused: string | undefined) {
    if (refused === undefined) return { status: 'waiting' as const }
    return { status: 'done' as const, result: refused, failed: true, finished_at: now }
  }
}

/**
 * The results of all calls of a step, in the order of the calls. A call without a result is closed first: if it was
 * begun, with the text that its outcome is unknown, otherwise with `notBegun`. With `ownOnly`, calls that wait for the
 * client are left out.
 */
export async function toolMessages(
  collections: Pick<Collections, 'toolCalls'>,
  {
    runId,
    step,
    notBegun = unknownOutcome,
    ownOnly = false,
  }: { runId: string; step: number; notBegun?: string; ownOnly?: boolean },
): Promise<Message[]> {
  const ledger = ledgerStore(collections)
  const read = () => ledger.listOfStep(runId, step, { ownOnly })
  const calls = await read()
  const open = calls.filter(({ status }) => status !== 'done')
  for (const call of open) {
    await ledger.close(call._id, resultOf(call))
  }
  return (open.length === 0 ? calls : await read()).map(toolMessageOf)

  function resultOf({ status, asked: childRun }: ToolCallRecord): CallResult {
    if (status === 'waiting') return { result: notBegun, failed: true }
    return childRun === undefined ? { result: unknownOutcome } : { result: notAnsweredInTime, failed: true }
  }
}

const notAnsweredInTime = 'The question was not answered before the run ended.'
const tooManyCalls = `This call was not made: one answer can make at most ${maxCallsPerStep} calls. Make the rest in your next answer.`
const unreadableArguments = 'This call was not made: its arguments are not a JSON object.'

/** How many calls of one answer run at once. */
const parallelCalls = 4

/** Time limit for a call of an unknown tool, which only stores its refusal. */
const unknownToolTimeoutMs = 5000

/** What follows an answer with tool calls. */
interface AnswerPlan {
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
