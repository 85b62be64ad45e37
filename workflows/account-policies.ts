import type { ActivityOptions } from '@temporalio/workflow'

/**
 * A mail server that is away is asked again for a day; one that refuses the mail is not asked twice.
 * The limit of one attempt is above the mailer's own, and short, because it is also how long the
 * mail of a killed worker waits.
 */
export const mailPolicy: ActivityOptions = {
  startToCloseTimeout: '20s',
  scheduleToCloseTimeout: '1 day',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
}

/** One statement in the database. It must happen in the end, and a caller waits for it. */
export const accountWritePolicy: ActivityOptions = {
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '10s' },
}
