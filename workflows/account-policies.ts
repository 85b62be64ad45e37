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

/** A tracing service that is away is asked again for three days, ever more rarely; one that refuses is not asked twice. */
export const feedbackDeliveryPolicy: ActivityOptions = {
  startToCloseTimeout: '20s',
  scheduleToCloseTimeout: '3 days',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10 minutes' },
}

/** One statement in the database. It must happen in the end, and a caller waits for it. */
export const accountWritePolicy: ActivityOptions = {
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '10s' },
}

/**
 * A large account takes minutes; a worker that died is noticed within three seconds. A store that is
 * away is waited for: a deletion that began has to end.
 */
export const deletionStepPolicy: ActivityOptions = {
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '3s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '30s' },
}

/** Looks through whole collections; nothing is waited for by a caller. */
export const cleanupStepPolicy: ActivityOptions = {
  startToCloseTimeout: '1 hour',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m', maximumAttempts: 20 },
}
