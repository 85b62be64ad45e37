import type { ActivityOptions } from '@temporalio/workflow'

/**
 * A step may take long for a large file; the reader has its own limits. Missing heartbeats reveal a dead worker.
 * Temporal retries a step only through short outages; after that the workflow decides how to continue, and its
 * details say what it waits for (`keep-trying.ts`).
 */
export const stepPolicy: ActivityOptions = {
  startToCloseTimeout: '24h',
  heartbeatTimeout: '5s',
  // What follows a cancelled step must not overlap with its last writes.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '30s', maximumAttempts: 5 },
}

/** Only the stores can make these fail: they are retried for long. */
export const storePolicy: ActivityOptions = {
  startToCloseTimeout: '10m',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '500ms', maximumInterval: '30s' },
}
