export type Log = (line: string) => void

/** A failure that a developer can act on: it is shown as its message, without a stack. */
export class LocalServiceError extends Error {
  override readonly name = 'LocalServiceError'
}

/** One way to get something. `attempt` answers undefined when it is simply not there, and throws when it failed. */
export type Way<T> = { name: string; attempt: () => Promise<T | undefined> }

/**
 * Tries the ways in order and answers what the first one gives that works, and which one that was.
 * When none does, the error names the service, every way with what went wrong, and the variable to set.
 */
export async function firstThatWorks<T>(
  service: string,
  variable: string,
  ways: Way<T>[],
): Promise<{ value: T; source: string }> {
  const failures: string[] = []
  for (const way of ways) {
    try {
      const value = await way.attempt()
      if (value !== undefined) return { value, source: way.name }
      failures.push(`${way.name}: not there`)
    } catch (error) {
      failures.push(`${way.name}: ${reason(error)}`)
    }
  }
  throw new LocalServiceError(
    `${service} could not be found or installed. Tried ${failures.map((failure) => `\n    ${failure}`).join('')}\n  Set ${variable} to use one of your own.`,
  )
}

/** The shortest text that says why: `fetch` hides the cause, and tools put the cause in their last line. */
export function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
