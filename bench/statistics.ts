/** The value below which the given share (0 to 1) of the values lies. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

/** Does `count` pieces of work, `atOnce` at a time, and answers how many were done a second. */
export async function rate(count: number, atOnce: number, work: (index: number) => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  let next = 0
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < count) await work(next++)
    }),
  )
  return (count * 1000) / (performance.now() - startedAt)
}

/** A table in Markdown. */
export function table(header: string[], rows: (string | number)[][]): string {
  const line = (cells: (string | number)[]) => `| ${cells.join(' | ')} |`
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n')
}
