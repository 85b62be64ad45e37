import { type ChildOptions, startChild } from './child-process.ts'
import { type Watch, keepRunning } from './services/keep-running.ts'

export type Supervised = ReturnType<typeof supervise>

/** Keeps one of our own processes running, however often it exits, because a developer may fix its code meanwhile. */
export function supervise(options: ChildOptions, watch: Watch) {
  const start = () => startChild(options)
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
