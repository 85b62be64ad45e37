import { ModelFailure } from '../../domain/model-failure.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { threadStore } from '../stores/threads.ts'
import type { StepDeps } from './step-deps.ts'
import { executedRunStore } from './store.ts'
import type { RunWriter } from './answer.ts'

interface FailedAttempt {
  run: RunRecord
  /** Undefined if it has not been read. */
  thread: ThreadRecord | undefined
  assistant: AssistantRecord
  writer: RunWriter
}

/**
 * Logs the reason, stores what the server said for the run's error, and tells readers at once if the model is asked
 * again, because that may take a while. Returns the failure for the workflow. What the server said of a run that is
 * not stored is not kept anywhere.
 */
export async function reportModelFailure(
  deps: StepDeps,
  error: ModelFailure,
  { run, thread, assistant, writer }: FailedAttempt,
): Promise<ModelFailure> {
  const failure = (await isStored(deps, thread, run)) ? error : withoutDetails(error)
  deps.onModelFailure(run, deps.accountOf(assistant), failure)
  if (failure.details !== '')
    await executedRunStore(deps.collections).noteFailure(run, failure.details).catch(deps.onError)
  if (failure.retryable) {
    writer.push([{ type: 'retrying' }])
    await writer.drain()
  }
  return withoutDetails(failure)
}

/** Whether the thread stays after the run: see docs/retention.md. */
async function isStored({ collections }: StepDeps, known: ThreadRecord | undefined, run: RunRecord): Promise<boolean> {
  const thread = known ?? (await threadStore(collections).findExpiryOfAny(run.thread_id))
  return thread !== null && thread.expires_at === undefined
}

/**
 * Servers quote the request in their errors, and the workflow's history would keep the quotation. It is stored with
 * the run instead.
 */
function withoutDetails({ message, statusCode, type, retryable, retryAfterMs }: ModelFailure): ModelFailure {
  return new ModelFailure(message, { statusCode, type, retryable, retryAfterMs })
}
