import { LocalServiceError } from './services/index.ts'

type Step = { name: string; stop: () => void | Promise<unknown> }

/**
 * Stops what was started, in reverse order, one after the other: on Ctrl-C, on SIGTERM, when a start fails, and
 * when the process that started us is gone. A second Ctrl-C ends at once; then the guards stop what still runs.
 */
export function createShutdown(say: (line: string) => void) {
  const steps: Step[] = []
  let stoppingSince: number | undefined

  const stop = async (exitCode: number): Promise<never> => {
    stoppingSince ??= Date.now()
    for (const step of steps.toReversed()) {
      try {
        await step.stop()
      } catch (error) {
        say(`Could not stop ${step.name}: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
    process.exit(exitCode)
  }

  const onSignal = () => {
    if (stoppingSince === undefined) {
      say('\nStopping (Ctrl-C again to end at once) ...')
      void stop(0)
      return
    }
    // The terminal, npm and the bootstrap each pass on the same Ctrl-C.
    if (Date.now() - stoppingSince > 1_000) process.exit(1)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
  process.on('disconnect', onSignal)

  return {
    /** Adds a process to stop first. If the stop has begun already, the caller must not continue. */
    add(name: string, stopIt: Step['stop']): void {
      steps.push({ name, stop: stopIt })
      if (stoppingSince !== undefined) throw new LocalServiceError('Stopped while starting')
    },
    stop,
  }
}
