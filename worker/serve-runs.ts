import type { Platform } from '../composition/platform.ts'
import type { Logger } from '../infra/logger.ts'
import { every } from './every.ts'

const sweepEveryMs = 15_000
const listenAgainMs = 1_000

/**
 * Further tasks of a process with a worker of the queue `runs`: it learns which runs were taken over and which
 * threads are deleted, and sweeps open runs.
 */
export async function serveRuns({ runs: { runUpkeep } }: Platform, logger: Logger): Promise<() => Promise<void>> {
  let stopListeningToRuns: (() => Promise<void>) | undefined
  let stopListeningToThreads: (() => Promise<void>) | undefined
  const listen = async () => {
    stopListeningToRuns ??= await runUpkeep.subscribeSuperseded()
    stopListeningToThreads ??= await runUpkeep.subscribeForgotten()
  }
  const onDeaf = (error: unknown) =>
    logger.warn({ err: error }, 'not yet subscribed to ended runs and deleted threads; trying again')
  // Redis may be away at this moment. That must not end the process: the fence refuses old attempts in any case.
  await listen().catch(onDeaf)
  const stopTrying = every(listenAgainMs, listen, onDeaf)
  const stopSweeping = every(
    sweepEveryMs,
    () => runUpkeep.sweep(),
    (error) => logger.warn({ err: error }, 'the sweep of open runs failed'),
  )
  return async () => {
    await stopSweeping()
    await stopTrying()
    await stopListeningToRuns?.()
    await stopListeningToThreads?.()
  }
}
