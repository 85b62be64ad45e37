import { AsyncLocalStorage } from 'node:async_hooks'
import type { Client } from '@temporalio/client'
import type { AppError } from '../../domain/errors.ts'
import type { Settings } from '../config.ts'
import { isUnanswered, unavailable } from './unanswered.ts'

/** One call of Temporal by a client; throws `unavailable` if it is not answered. */
export type PatientCalls = <T>(by: Client, ask: () => Promise<T>) => Promise<T>

/** Aborted when the call that is being made is given up: its client library would try again until the deadline. */
export const callSignal = new AsyncLocalStorage<AbortSignal>()

/** Ticks without a sign of life after which a server counts as away. */
const silentTicksMax = 8
/** Ticks after which a call ends although the server lives. */
const slowTicksMax = 3 * silentTicksMax

/**
 * Distinguishes a Temporal that is away from a slow one, as the connections to MongoDB and Redis do: while a call waits,
 * the server is asked something on the same connection that it answers from memory. A call ends when the server has
 * given no sign of life for the time of the settings, and otherwise after three times that. It is not sent again: the
 * client library repeats what failed at once, under the same request id, so that Temporal does it once.
 *
 * Time is counted in ticks of a timer: while the whole process stands still, the server is not silent.
 */
export function createPatientCalls({
  dependencyTimeoutSeconds,
}: Pick<Settings, 'dependencyTimeoutSeconds'>): PatientCalls {
  const tickMs = (dependencyTimeoutSeconds * 1000) / silentTicksMax
  const watches = new WeakMap<Client, ServerWatch>()

  function watchOf(client: Client): ServerWatch {
    const known = watches.get(client)
    if (known !== undefined) return known
    const watch = watchServer(client, tickMs)
    watches.set(client, watch)
    return watch
  }

  return async (by, ask) => {
    const watch = watchOf(by)
    const abort = new AbortController()
    const givenUp = Promise.withResolvers<never>()
    const waiting: Waiting = {
      ticks: 0,
      silentTicks: 0,
      giveUp: (reason) => {
        givenUp.reject(reason)
        // The connection of a worker ignores this; its call ends at its deadline.
        abort.abort()
      },
    }
    // A clock that is set or a process that stands still must not end the call before the ticks do.
    const deadline = Date.now() + 2 * slowTicksMax * tickMs
    watch.add(waiting)
    try {
      const call = by.withDeadline(deadline, () =>
        by.withAbortSignal(abort.signal, () => callSignal.run(abort.signal, ask)),
      )
      const answer = await Promise.race([call, givenUp.promise])
      watch.noteAnswer()
      return answer
    } catch (error) {
      throw isUnanswered(error) ? unavailable(error) : error
    } finally {
      watch.remove(waiting)
    }
  }
}

interface Waiting {
  ticks: number
  /** Since the last sign of life of the server, or since the call began. */
  silentTicks: number
  giveUp(reason: AppError): void
}

type ServerWatch = ReturnType<typeof watchServer>

/** Counts the ticks of the calls that wait for one server. */
function watchServer(client: Client, tickMs: number) {
  const calls = new Set<Waiting>()
  let timer: NodeJS.Timeout | undefined

  function noteAnswer(): void {
    for (const call of calls) call.silentTicks = 0
  }

  function judge(): void {
    for (const call of calls) {
      if (call.silentTicks >= silentTicksMax) call.giveUp(unavailable(new Error('Temporal gives no sign of life.')))
      else if (call.ticks >= slowTicksMax) call.giveUp(unavailable(new Error('Temporal is alive, and did not answer.')))
    }
  }

  function tick(): void {
    for (const call of calls) {
      call.ticks += 1
      call.silentTicks += 1
    }
    // After a pause of the whole process an answer may be unread: it is read before `setImmediate` runs.
    setImmediate(judge)
    client
      .withDeadline(Date.now() + silentTicksMax * tickMs, () => client.workflowService.getSystemInfo({}))
      // The calls themselves find out.
      .then(noteAnswer, () => undefined)
  }

  return {
    noteAnswer,
    add(call: Waiting): void {
      calls.add(call)
      timer ??= setInterval(tick, tickMs)
    },
    remove(call: Waiting): void {
      calls.delete(call)
      if (calls.size > 0) return
      clearInterval(timer)
      timer = undefined
    },
  }
}
