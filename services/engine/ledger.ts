import type { PlannedCall } from '../../domain/contracts/thread.ts'
import type { AIMessage, Message } from '../../domain/messages.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ToolCallRecord } from '../../domain/records/tool-call.ts'
import type { Tool } from '../tools/tool.ts'
import type { EngineDeps } from './deps.ts'

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
 * The answers to all calls of a step, in the order in which the model asked. A call without a result
 * (its activity failed for good) is closed with the words that its outcome is unknown. A person's
 * edits of the arguments are shown in the message that asked.
 */
export async function toolMessages(
  { collections }: Pick<EngineDeps, 'collections'>,
  run: RunRecord,
  step: number,
): Promise<Message[]> {
  const { toolCalls } = collections
  await toolCalls.updateMany(
    { run_id: run._id, step, status: { $ne: 'done' } },
    { $set: { status: 'done', result: noResult, finished_at: new Date() } },
  )
  const calls = await toolCalls.find({ run_id: run._id, step }).sort({ index: 1 }).lean<ToolCallRecord[]>()
  return calls.map(toolMessageOf)
}

export const noResult =
  'The outcome of this call is not known: it may or may not have taken effect. It was not repeated.'
