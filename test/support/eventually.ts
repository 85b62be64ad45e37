import { setTimeout } from 'node:timers/promises'

/** Asks again until there is an answer other than undefined, null or false; gives up after ten seconds. */
export async function eventually<T>(ask: () => Promise<T | undefined | null | false>, limitMs = 10_000): Promise<T> {
  const end = Date.now() + limitMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== null && answer !== false) return answer
    if (Date.now() > end) throw new Error('it did not happen in time')
    await setTimeout(25)
  }
}
