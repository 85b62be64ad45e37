/** How long one request took: until the first words of its answer, and until its end (milliseconds). */
export interface Timing {
  first: number
  whole: number
}

export interface Load {
  count: number
  perSecond: number
  first: number[]
  whole: number[]
}

/** Keeps `atOnce` requests under way for `ms` milliseconds, and waits for the last of them. */
export async function drive(
  once: (slot: number) => Promise<Timing>,
  { atOnce, ms }: { atOnce: number; ms: number },
): Promise<Load> {
  const first: number[] = []
  const whole: number[] = []
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: atOnce }, async (_, slot) => {
      while (performance.now() - startedAt < ms) {
        const timing = await once(slot)
        first.push(timing.first)
        whole.push(timing.whole)
      }
    }),
  )
  return { count: whole.length, perSecond: (whole.length * 1000) / (performance.now() - startedAt), first, whole }
}
