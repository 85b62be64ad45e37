import type { ActivityOptions } from '@temporalio/workflow'
import type { PlannedCall } from '../domain/contracts/thread.ts'

/** Time limits and retries by kind of work, each with its reason. */

/**
 * A model's answer may take minutes. Retries are for models that fail (which say how long to wait) and for dead
 * workers.
 */
export const modelStepTimeout = '15m'
export const modelStepRetries = { firstMs: 200, longestMs: 20_000, maximumAttempts: 8 }

/**
 * The end of a run, or its wait for the client, is retried for about three minutes. A run that could not be ended by
 * then must not block its thread: the sweep of open runs ends it later.
 */
export const finalizePolicy: ActivityOptions = {
  startToCloseTimeout: '30s',
  heartbeatTimeout: '3s',
  retry: { initialInterval: '200ms', maximumInterval: '30s', maximumAttempts: 12 },
}

/**
 * A tool has its own time limit, and a little more to store its result. Retries only follow a dead worker: the
 * ledger decides whether the call is repeated.
 */
export function toolPolicy(call: PlannedCall): ActivityOptions {
  return {
    startToCloseTimeout: call.timeoutMs + 10_000,
    heartbeatTimeout: '3s',
    retry: { initialInterval: '200ms', maximumInterval: '5s', maximumAttempts: 5 },
    summary: call.name,
  }
}
