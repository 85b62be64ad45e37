import { type ChildOptions, startChild } from './child-process.ts'
import { type Watch, keepRunning } from './services/keep-running.ts'

export type Supervised = ReturnType<typeof supervise>

export type SupervisedOptions = Omit<ChildOptions, 'script'> & {
  /** Called before each start: the script may be another one when the code has changed. */
  script: () => string
}

/** Keeps one of our own processes running, however often it exits, because a developer may fix its code meanwhile. */
export function supervise({ script, ...options }: SupervisedOptions, watch: Watch) {
  const start = () => startChild({ ...options, script: script() })
  const kept = keepRunning(
    {
      name: `The ${options.name}`,
      first: start(),
      start,
      stableMs: 5_000,
      maxFailures: Infinity,
      whereToLook: '',
    },
    watch,
  )
  return { ...kept, name: options.name }
}
