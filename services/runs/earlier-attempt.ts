import { type OnThread, type StepInput, type StepResult, answerEntry } from '../../domain/contracts/thread.ts'
import { type AIMessage, messagesFromJson } from '../../domain/messages.ts'
import { isOpenRun } from '../../domain/records/run.ts'
import { assistantStore } from '../stores/assistants.ts'
import { logStore } from '../stores/log.ts'
import { runStore } from '../stores/runs.ts'
import { suggestsFor } from './commit.ts'
import { finalizeRun } from './finalize.ts'
import { planAnswer, plannedStep } from './ledger.ts'
import { SupersededError } from './live-runs.ts'
import type { StepDeps } from './step-deps.ts'
import { ledgerStore } from './store.ts'

/** The answer of a step that an earlier attempt has stored. */
export async function storedAnswer(
  { collections }: StepDeps,
  { threadId, runId, step }: OnThread<StepInput>,
): Promise<AIMessage | undefined> {
  const entry = await logStore(collections).findStep(threadId, runId, answerEntry(step))
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
  const run = await runStore(deps.collections).findInThread({ _id: runId, thread_id: threadId })
  if (run === null) return { next: 'done', status: 'cancelled' }
  if (!isOpenRun(run)) {
    // Whoever ended it may not have told the workflow, or have died before the cost was counted.
    const { status } = await finalizeRun(deps, { threadId, runId, step, outcome: 'cancelled', neverBegan: true })
    const suggests = status === 'success' ? suggestsFor(deps.models, run) : undefined
    return { next: 'done', status, ...(suggests && { suggests }) }
  }
  // It was resumed a moment ago.
  if (run.status !== 'interrupted') throw new SupersededError()
  const message = await storedAnswer(deps, { threadId, runId, step })
  const assistant = await assistantStore(deps.collections).findOfAny(run.assistant_id)
  if (message === undefined || assistant === null) return { next: 'done', status: run.status }
  const config = deps.assistantConfigs.settingsOf(assistant)
  const [tools, calls] = await Promise.all([
    deps.toolsOf(assistant, run, new AbortController().signal),
    ledgerStore(deps.collections).listOfStep(runId, step),
  ])
  const plan = planAnswer({ run, message, tools, calls })
  return { next: 'tools', ...plannedStep(plan, { run, isWaiting: true }), approval: true, maxSteps: config.maxSteps }
}
