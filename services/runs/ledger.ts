import type { PlannedTools } from '../../domain/contracts/thread.ts'
import type { AIMessage, Message } from '../../domain/messages.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import { type ToolCallRecord, toolCallKey } from '../../domain/records/tool-call.ts'
import type { Collections } from '../collections.ts'
import { unknownOutcome } from '../tools/execute-tool.ts'
import type { Tool } from '../tools/tool.ts'

/** How many calls of one answer are executed; the others are answered with an error. */
export const maxCallsPerStep = 16
/** How many calls of one answer run at once. */
const parallelCalls = 4

/** Time limit for a call of an unknown tool, which only stores its refusal. */
const unknownToolTimeoutMs = 5000

/**
 * The calls of an answer as the workflow executes them: names and limits, no arguments. A name of an unknown tool
 * is not passed to Temporal.
 */
export function plannedTools(message: AIMessage, tools: Tool[]): Pick<PlannedTools, 'calls' | 'parallelCalls'> {
  const calls = (message.data.tool_calls ?? []).slice(0, maxCallsPerStep).map((call, index) => {
    const tool = tools.find((candidate) => candidate.name === call.name)
    return {
      index,
      name: tool?.name ?? 'unknown_tool',
      timeoutMs: tool?.timeoutMs ?? unknownToolTimeoutMs,
      safeToRepeat: tool?.safeToRepeat ?? true,
    }
  })
  return { calls, parallelCalls }
}

/**
 * The ledger entries of an answer. Calls that are not executed get their result at once: those above the limit, and
 * the `unreadable` ones.
 */
export function ledgerEntries(
  run: RunRecord,
  step: number,
  message: AIMessage,
  unreadable: ReadonlySet<number>,
): ToolCallRecord[] {
  const now = new Date()
  const refusal = (index: number) =>
    index >= maxCallsPerStep ? tooManyCalls : unreadable.has(index) ? unreadableArguments : undefined
  return (message.data.tool_calls ?? []).map((call, index) => ({
    _id: toolCallKey(run._id, step, index),
    run_id: run._id,
    thread_id: run.thread_id,
    step,
    index,
    call_id: call.id,
    name: call.name,
    args_json: JSON.stringify(call.args),
    created_at: now,
    ...resultOf(refusal(index)),
  }))

  function resultOf(refused: string | undefined) {
    if (refused === undefined) return { status: 'waiting' as const }
    return { status: 'done' as const, result: refused, finished_at: now }
  }
}

/** The id of the message with a call's result. */
export function toolMessageId(call: Pick<ToolCallRecord, '_id'>): string {
  return `tool-${call._id.replaceAll('/', '-')}`
}

/** The result of a call as the model is told. */
export function toolMessageOf(call: ToolCallRecord): Message {
  return {
    type: 'ToolMessage',
    data: {
      id: toolMessageId(call),
      content: call.result ?? unknownOutcome,
      tool_call_id: call.call_id,
      name: call.name,
    },
  }
}

/**
 * The results of all calls of a step, in the order of the calls. A call without a result is closed first: if it was
 * begun, with the text that its outcome is unknown, otherwise with `notBegun`.
 */
export async function toolMessages(
  { toolCalls }: Pick<Collections, 'toolCalls'>,
  { runId, step, notBegun = unknownOutcome }: { runId: string; step: number; notBegun?: string },
): Promise<Message[]> {
  const read = () => toolCalls.find({ run_id: runId, step }).sort({ index: 1 }).lean<ToolCallRecord[]>()
  const calls = await read()
  const open = calls.filter(({ status }) => status !== 'done')
  for (const call of open) {
    const result = call.status === 'waiting' ? notBegun : unknownOutcome
    await toolCalls.updateOne(
      { _id: call._id, status: { $ne: 'done' } },
      { $set: { status: 'done', result, finished_at: new Date() } },
    )
  }
  return (open.length === 0 ? calls : await read()).map(toolMessageOf)
}

const tooManyCalls = `This call was not made: one answer can make at most ${maxCallsPerStep} calls. Make the rest in your next answer.`
const unreadableArguments = 'This call was not made: its arguments are not a JSON object.'
