import type { ActivityOptions } from '@temporalio/workflow'
import type { PlannedCall } from '../domain/contracts/thread.ts'

/** Time limits and retries by kind of work, each with its reason. */

/**
 * A model's answer may take minutes. Retries are for models that fail (which say themselves how long to wait) and for dead workers.
 */
export const modelStepTimeout = '15m'
export const modelStepRetries = { initialMs: 200, backoffCoefficient: 2, maximumMs: 20_000, maximumAttempts: 8 }

/** For threads that an earlier version started: their model steps are regular activities. */
export const modelStepPolicy: ActivityOptions = {
  startToCloseTimeout: modelStepTimeout,
  heartbeatTimeout: '3s',
  retry: {
    initialInterval: modelStepRetries.initialMs,
    backoffCoefficient: modelStepRetries.backoffCoefficient,
    maximumInterval: modelStepRetries.maximumMs,
    maximumAttempts: modelStepRetries.maximumAttempts,
  },
}

/**
 * The end of a run is tried for about three minutes. A run that could not be ended by then must not
 * hold up its thread: the sweep of runs without a workflow ends it later.
 */
export const settlePolicy: ActivityOptions = {
  startToCloseTimeout: '30s',
  heartbeatTimeout: '3s',
  retry: { initialInterval: '200ms', maximumInterval: '30s', maximumAttempts: 12 },
}

/** A tool has the time that it asks for, and a little more to store its result. Retries only follow a dead worker: the ledger decides what they may do. */
export function toolPolicy(call: PlannedCall): ActivityOptions {
  return {
    startToCloseTimeout: call.timeoutMs + 10_000,
    heartbeatTimeout: '3s',
    retry: { initialInterval: '200ms', maximumInterval: '5s', maximumAttempts: 5 },
    summary: call.name,
  }
}
