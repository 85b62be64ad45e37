import { type OnThread, type StepInput, type StepResult, answerEntry } from '../../domain/contracts/thread.ts'
import { type AIMessage, messagesFromJson } from '../../domain/messages.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { type RunRecord, isOpenRun } from '../../domain/records/run.ts'
import type { ToolCallRecord } from '../../domain/records/tool-call.ts'
import { SupersededError } from './live-runs.ts'
import { planAnswer, plannedStep } from './plan-answer.ts'
import { settleRun } from './settle.ts'
import type { StepDeps } from './step-deps.ts'

/** The answer of a step that an earlier attempt has stored. */
export async function storedAnswer(
  { collections }: StepDeps,
  { threadId, runId, step }: OnThread<StepInput>,
): Promise<AIMessage | undefined> {
  const entry = await collections.checkpoints
    .findOne({ thread_id: threadId, run_id: runId, step: answerEntry(step) })
    .lean()
  return entry === null
    ? undefined
    : messagesFromJson(entry.messages_json).find((message) => message.type === 'AIMessage')
}

/**
 * The run is not open: it has ended, or a repeated step has already interrupted it. The stored records tell which.
 */
export async function resultOfEarlierAttempt(
  deps: StepDeps,
  { threadId, runId, step }: OnThread<StepInput>,
): Promise<StepResult> {
  const run = await deps.collections.runs.findOne({ _id: runId, thread_id: threadId }).lean<RunRecord>()
  if (run === null) return { next: 'done', status: 'cancelled' }
  if (!isOpenRun(run)) {
    // Whoever ended it may not have told the workflow, or have died before the cost was counted.
    const { status } = await settleRun(deps, { threadId, runId, step, outcome: 'cancelled', neverBegan: true })
    return { next: 'done', status }
  }
  // It was resumed a moment ago.
  if (run.status !== 'interrupted') throw new SupersededError()
  const message = await storedAnswer(deps, { threadId, runId, step })
  const assistant = await deps.collections.assistants.findById(run.assistant_id).lean<AssistantRecord>()
  if (message === undefined || assistant === null) return { next: 'done', status: run.status }
  const config = deps.assistantConfigs.settingsOf(assistant)
  const [tools, calls] = await Promise.all([
    deps.toolsOf(assistant, run, new AbortController().signal),
    storedCalls(deps, { runId, step }),
  ])
  const plan = planAnswer({ run, message, tools, calls })
  return { next: 'tools', ...plannedStep(plan, { run, isWaiting: true }), approval: true, maxSteps: config.maxSteps }
}

/** The ledger's entries of a step. */
export function storedCalls({ collections }: StepDeps, { runId, step }: StepInput): Promise<ToolCallRecord[]> {
  return collections.toolCalls.find({ run_id: runId, step }).sort({ index: 1 }).lean<ToolCallRecord[]>()
}
