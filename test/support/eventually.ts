/**
 * Asks again until `check` gives something true or its time is over; then throws what it last threw, or says what it
 * waited for.
 */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 20_000,
): Promise<T> {
  const end = Date.now() + limitMs
  let problem: unknown
  while (Date.now() < end) {
    try {
      const value = await check()
      if (value !== undefined && value !== false) return value
      problem = undefined
    } catch (error) {
      problem = error
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw problem instanceof Error ? problem : new Error(`waited in vain for ${what}`)
}
