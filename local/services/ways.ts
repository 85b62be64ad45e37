export type Log = (line: string) => void

/** A failure that a developer can fix: only its message is shown, without a stack. */
export class LocalServiceError extends Error {
  override readonly name = 'LocalServiceError'
}

/**
 * One source of a program. `attempt` returns undefined if the source does not have it, and throws if it failed.
 * `source` says afterwards where it really came from, if that can differ from the name.
 */
export type Way<T> = { name: string; attempt: () => Promise<T | undefined>; source?: () => Promise<string> }

/**
 * Tries the sources in order and returns the first result, and which source it was. If none works, the error names
 * the service, each source with its problem, and the variable to set.
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
      if (value !== undefined) return { value, source: (await way.source?.()) ?? way.name }
      failures.push(`${way.name}: not there`)
    } catch (error) {
      failures.push(`${way.name}: ${reason(error)}`)
    }
  }
  throw new LocalServiceError(
    `${service} could not be found or installed. Tried ${failures.map((failure) => `\n    ${failure}`).join('')}\n  Set ${variable} to use one of your own.`,
  )
}

/** The shortest text that gives the reason: `fetch` hides the cause, and tools print it in their last line. */
export function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
