import type { CallSoFar } from '../../../domain/answer-changes.ts'
import type { Message, ToolCall } from '../../../domain/messages.ts'
import type { RunRecord } from '../../../domain/records/run.ts'
import type { LoggedMessage } from '../../../services/public/named-threads.ts'
import { lastError, secondsOf } from './compat-objects.ts'
import type { CompatRunStep } from './thread-schemas.ts'

type Outputs = Map<string, string>
type Status = CompatRunStep['status']

/**
 * The step in which a message was written. Its id is made from the message's id, so that streams and lists use the
 * same one.
 */
const messageStepId = (messageId: string): string => `step-${messageId}`
/** The step with the tool calls of a message. A stream has seen `attempt` ones, if the model had to begin again. */
export const toolStepId = (messageId: string, attempt = 1): string =>
  `step-${messageId}-tools${attempt > 1 ? `-${attempt}` : ''}`
/** The id in lists of a step that a stream has named. */
export const listedStepId = (stepId: string): string => stepId.replace(/(?<=-tools)-\d+$/, '')

export function messageStep(run: RunRecord, messageId: string, status: Status, at: Date): CompatRunStep {
  return {
    ...step(run, messageStepId(messageId), status, at),
    type: 'message_creation',
    step_details: { type: 'message_creation', message_creation: { message_id: messageId } },
  }
}

export const stepCalls = (calls: ToolCall[] = []): CallSoFar[] =>
  calls.map(({ id, name, args }) => ({ id, name, arguments: JSON.stringify(args) }))

export function toolStep(
  run: RunRecord,
  { id, calls, attempt }: { id: string; calls: readonly CallSoFar[]; attempt?: number },
  outputs: Outputs,
  status: Status,
  at: Date,
): CompatRunStep {
  return {
    ...step(run, toolStepId(id, attempt), status, at),
    type: 'tool_calls',
    step_details: {
      type: 'tool_calls',
      tool_calls: calls.map((call) => ({
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: call.arguments, output: outputs.get(call.id) ?? null },
      })),
    },
  }
}

function step(run: RunRecord, id: string, status: Status, at: Date) {
  const ended = secondsOf(at)
  return {
    id,
    object: 'thread.run.step' as const,
    created_at: ended,
    completed_at: status === 'completed' ? ended : null,
    cancelled_at: status === 'cancelled' ? ended : null,
    failed_at: status === 'failed' ? ended : null,
    expired_at: status === 'expired' ? ended : null,
    run_id: run._id,
    thread_id: run.thread_id,
    assistant_id: run.assistant_id,
    status,
    last_error: status === 'failed' ? (run.error ? lastError(run.error) : runFailed) : null,
    metadata: {},
    usage: null,
  }
}

const runFailed = { code: 'server_error', message: 'The run failed.' }

/** The results of the tool calls of one message: those that follow it. */
export function outputsOf(following: Message[]): Outputs {
  const outputs: Outputs = new Map()
  for (const message of following) {
    if (message.type === 'AIMessage') break
    if (message.type === 'ToolMessage') outputs.set(message.data.tool_call_id, message.data.content)
  }
  return outputs
}

/** The steps of a run, from the messages that it added to its thread, oldest first. */
export function stepsOf(run: RunRecord, said: LoggedMessage[]): CompatRunStep[] {
  const failed = run.status === 'cancelled' ? 'cancelled' : run.error?.type === 'expired' ? 'expired' : 'failed'
  return said.flatMap(({ message, createdAt }, index) => {
    if (message.type !== 'AIMessage') return []
    const { id, content, tool_calls: calls = [], incomplete, usage } = message.data
    const outputs = outputsOf(said.slice(index + 1).map((entry) => entry.message))
    const toolStatus = calls.every((call) => outputs.has(call.id)) ? 'completed' : isOver(run) ? failed : 'in_progress'
    const steps = [
      ...(content === '' ? [] : [messageStep(run, id, incomplete ? failed : 'completed', createdAt)]),
      ...(calls.length === 0 ? [] : [toolStep(run, { id, calls: stepCalls(calls) }, outputs, toolStatus, createdAt)]),
    ]
    const [first] = steps
    if (first && usage) first.usage = usage
    return steps
  })
}

function isOver(run: RunRecord): boolean {
  return run.finished_at !== undefined
}
