import type { ActivityOptions } from '@temporalio/workflow'

/**
 * Reading a file may take as long as the file is large; its own process has the time limit. Missing
 * heartbeats tell of a dead worker. What still fails after some attempts is the file's fault.
 */
export const extractPolicy: ActivityOptions = {
  startToCloseTimeout: '24h',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '500ms', maximumInterval: '30s', maximumAttempts: 6 },
}

/**
 * Embedding servers limit their users and fail for hours: that is waited out for two days, at the
 * pace that they ask for, and no longer.
 */
export const embedPolicy: ActivityOptions = {
  startToCloseTimeout: '24h',
  scheduleToCloseTimeout: '48h',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '60s' },
}

/** Only the stores stand in the way of these: they are tried for long. */
export const storePolicy: ActivityOptions = {
  startToCloseTimeout: '10m',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '500ms', maximumInterval: '30s' },
}
