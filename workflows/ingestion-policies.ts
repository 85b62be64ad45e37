import type { ActivityOptions } from '@temporalio/workflow'

/**
 * A step may take as long as the file is large; the process that reads has its own limits. Missing
 * heartbeats tell of a dead worker. Temporal repeats a step only through short disturbances: after
 * that the workflow decides how to go on, and says in its details what it waits for (`keep-trying.ts`).
 */
export const stepPolicy: ActivityOptions = {
  startToCloseTimeout: '24h',
  heartbeatTimeout: '5s',
  // What comes after a cancelled step must not meet its last writes.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '30s', maximumAttempts: 5 },
}

/** Only the stores stand in the way of these: they are tried for long. */
export const storePolicy: ActivityOptions = {
  startToCloseTimeout: '10m',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '500ms', maximumInterval: '30s' },
}
