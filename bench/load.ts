/** How long one request took: until the first words of its answer, and until its end (milliseconds). */
export interface Timing {
  first: number
  whole: number
}

export interface Load {
  count: number
  /** Requests that were not answered well, and what went wrong with the first of them. */
  failed: number
  failure?: string
  perSecond: number
  first: number[]
  whole: number[]
}

/** Keeps `atOnce` requests under way for `ms` milliseconds or until there were `count`, and waits for the last of them. */
export async function drive(
  once: (slot: number) => Promise<Timing>,
  { atOnce, ms, count = Infinity }: { atOnce: number; ms: number; count?: number },
): Promise<Load> {
  const first: number[] = []
  const whole: number[] = []
  let failed = 0
  let failure: string | undefined
  let begun = 0
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: atOnce }, async (_, slot) => {
      while (performance.now() - startedAt < ms && begun++ < count) {
        try {
          const timing = await once(slot)
          first.push(timing.first)
          whole.push(timing.whole)
        } catch (error) {
          failed += 1
          failure ??= String(error)
        }
      }
    }),
  )
  const perSecond = (whole.length * 1000) / (performance.now() - startedAt)
  return { count: whole.length, failed, ...(failure === undefined ? {} : { failure }), perSecond, first, whole }
}
