import { ActivityFailure, ApplicationFailure, TimeoutFailure, sleep } from '@temporalio/workflow'
import { backOffMs } from '../domain/back-off.ts'
import { outageTypes, readerFailedType } from '../domain/contracts/ingestion.ts'

const firstPauseMs = 5000
const longestPauseMs = 10 * 60_000
export interface KeepTryingOptions {
  /** How long outages are waited for in total, in milliseconds. */
  patienceMs: number
  /** How often the step may fail for an unexpected reason, such as a killed reader or a bug. */
  surprises: number
  /** Called with what the step waits for, and with `undefined` when it no longer waits. */
  onWait(reason: string | undefined): void
}

/**
 * Repeats a step that failed although Temporal retried it: during outages of stores and model servers until
 * `patience` is used up, after other failures a few times. Throws the last failure; a permanent failure at once.
 */
export async function keepTrying<T>(
  step: () => Promise<T>,
  { patienceMs, surprises, onWait }: KeepTryingOptions,
): Promise<T> {
  let waitedMs = 0
  let surprised = 0
  for (let pauses = 0; ; pauses++) {
    try {
      const result = await step()
      if (pauses > 0) onWait(undefined)
      return result
    } catch (error) {
      const failure = describeFailure(error)
      if (failure === undefined || failure.kind === 'refused') throw error
      if (failure.kind === 'surprise' && ++surprised >= surprises) throw error
      if (failure.kind === 'outage' && waitedMs >= patienceMs) throw error
      const pauseMs = Math.max(
        backOffMs(pauses + 1, { firstMs: firstPauseMs, longestMs: longestPauseMs }),
        failure.requestedPauseMs,
      )
      onWait(`${failure.message} Next try at ${new Date(Date.now() + pauseMs).toISOString()}.`)
      await sleep(pauseMs)
      waitedMs += pauseMs
    }
  }
}

interface Failure {
  kind: 'outage' | 'surprise' | 'refused'
  message: string
  /** How long the failed server asked to wait. */
  requestedPauseMs: number
}

/** Undefined for other errors, such as a cancellation. */
function describeFailure(error: unknown): Failure | undefined {
  if (!(error instanceof ActivityFailure)) return undefined
  const { cause } = error
  if (cause instanceof TimeoutFailure) {
    return { kind: 'surprise', message: 'The worker that processed this file stopped answering.', requestedPauseMs: 0 }
  }
  if (!(cause instanceof ApplicationFailure)) return undefined
  const message = isForOwner(cause.message) ? cause.message : 'An unexpected error occurred.'
  const requested: unknown = cause.details?.[0]
  const requestedPauseMs = typeof requested === 'number' ? Math.min(requested, 24 * 3_600_000) : 0
  if (outageTypes.some((type) => type === cause.type)) return { kind: 'outage', message, requestedPauseMs }
  const isFinal = cause.nonRetryable === true && cause.type !== readerFailedType
  return { kind: isFinal ? 'refused' : 'surprise', message, requestedPauseMs }
}

/** The reason for the file's owner: only messages that were written to be shown. */
export function reasonForOwner(error: unknown): string {
  return describeFailure(error)?.message ?? 'Processing this file failed.'
}

/** `translateErrors` gives this name to errors whose message must not be shown. */
function isForOwner(message: string): boolean {
  return !message.startsWith('unexpected failure')
}
