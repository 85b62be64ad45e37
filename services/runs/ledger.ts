import { toolMessageOf, unknownOutcome } from '../../domain/conversation.ts'
import type { AIMessage, Message } from '../../domain/messages.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import { type CallResult, type ToolCallRecord, toolCallKey } from '../../domain/records/tool-call.ts'
import { readApprovedCalls } from '../../domain/run-overrides.ts'
import type { Collections } from '../collections.ts'
import type { Tool } from '../tool.ts'
import { ledgerStore } from './store.ts'

/** How many calls of one answer are executed here; the others are answered with an error. */
export const maxCallsPerStep = 16

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

  function resultOf({ status, asked }: ToolCallRecord): CallResult {
    if (status === 'waiting') return { result: notBegun, failed: true }
    return asked === undefined ? { result: unknownOutcome } : { result: notAnsweredInTime, failed: true }
  }
}

const notAnsweredInTime = 'The question was not answered before the run ended.'
const tooManyCalls = `This call was not made: one answer can make at most ${maxCallsPerStep} calls. Make the rest in your next answer.`
const unreadableArguments = 'This call was not made: its arguments are not a JSON object.'
