import type { ActivityOptions } from '@temporalio/workflow'

/**
 * Mail is retried for a day while the mail server is away; a mail that the server refuses is not retried. The limit
 * of one attempt is above the mailer's own, and short, because the mail of a killed worker waits that long.
 */
export const mailPolicy: ActivityOptions = {
  startToCloseTimeout: '20s',
  scheduleToCloseTimeout: '1 day',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
}

/** One database statement. It must succeed eventually, and a caller waits for it. */
export const accountWritePolicy: ActivityOptions = {
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '10s' },
}
