import { activityInfo, heartbeat } from '@temporalio/activity'
import { translateErrors } from './translate-errors.ts'

const heartbeatMs = 500

/**
 * An activity that heartbeats while it works, so that a dead worker is noticed soon and a cancellation arrives. A
 * local activity needs none: the worker keeps its workflow task alive. `asFailure` may turn an error into the
 * `ApplicationFailure` by which Temporal decides about retries; `translateErrors` does so for every other error.
 */
export function durable<Input, Output>(
  work: (input: Input) => Promise<Output>,
  asFailure: (error: unknown) => unknown = (error) => error,
): (input: Input) => Promise<Output> {
  return translateErrors(async (input: Input) => {
    const beat = activityInfo().isLocal ? undefined : setInterval(heartbeat, heartbeatMs)
    try {
      return await work(input)
    } catch (error) {
      throw asFailure(error)
    } finally {
      clearInterval(beat)
    }
  })
}
