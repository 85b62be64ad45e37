import type { PlannedCall } from '../../domain/contracts/thread.ts'
import type { AIMessage, Message } from '../../domain/messages.ts'
import type { ToolCallRecord } from '../../domain/records/tool-call.ts'
import type { Collections } from '../collections.ts'
import type { Tool } from '../tools/tool.ts'

/** Time for a call of a tool that is not there: only its refusal has to be stored. */
const unknownToolTimeoutMs = 5000

/** The calls of an answer with the facts that the workflow needs: names and limits, no arguments. */
export function plannedCalls(message: AIMessage, tools: Tool[]): PlannedCall[] {
  return (message.data.tool_calls ?? []).map((call, index) => {
    const tool = tools.find((candidate) => candidate.name === call.name)
    return {
      index,
      name: call.name,
      timeoutMs: tool?.timeoutMs ?? unknownToolTimeoutMs,
      safeToRepeat: tool?.safeToRepeat ?? true,
    }
  })
}

/** The id of a call's answer. */
export function toolMessageId(call: Pick<ToolCallRecord, '_id'>): string {
  return `tool-${call._id.replaceAll('/', '-')}`
}

/** What the model is told about a call that has a result. */
export function toolMessageOf(call: ToolCallRecord): Message {
  return {
    type: 'ToolMessage',
    data: { id: toolMessageId(call), content: call.result ?? noResult, tool_call_id: call.call_id, name: call.name },
  }
}

/**
 * The answers to all calls of a step, in the order in which the model asked. A call that has no
 * result and gets none any more is closed first: one that was begun with the words that its outcome
 * is unknown, one that was not with `notBegun`.
 */
export async function toolMessages(
  { toolCalls }: Pick<Collections, 'toolCalls'>,
  { runId, step, notBegun = noResult }: { runId: string; step: number; notBegun?: string },
): Promise<Message[]> {
  const ofStep = { run_id: runId, step }
  const open = await toolCalls.find({ ...ofStep, status: { $ne: 'done' } }).lean<ToolCallRecord[]>()
  for (const call of open) {
    const result = call.status === 'waiting' ? notBegun : noResult
    await toolCalls.updateOne(
      { _id: call._id, status: { $ne: 'done' } },
      { $set: { status: 'done', result, finished_at: new Date() } },
    )
  }
  const calls = await toolCalls.find(ofStep).sort({ index: 1 }).lean<ToolCallRecord[]>()
  return calls.map(toolMessageOf)
}

export const noResult =
  'The outcome of this call is not known: it may or may not have taken effect. It was not repeated.'
