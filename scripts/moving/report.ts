import type { DumpKind } from './dump.ts'

/** Problems of one kind that are printed; the others are counted. */
const printed = 1000

export type Counts = Record<'made' | 'there' | 'refused' | 'partial', number>

/** Says what was taken and what was not, while it happens and at the end. */
export function createReport(print: (line: string) => void) {
  const counts = new Map<DumpKind | 'dump', Counts>()
  const of = (kind: DumpKind | 'dump') => {
    const known = counts.get(kind) ?? { made: 0, there: 0, refused: 0, partial: 0 }
    counts.set(kind, known)
    return known
  }
  const problem = (kind: DumpKind | 'dump', outcome: 'refused' | 'partial', line: string) => {
    const count = of(kind)
    count[outcome] += 1
    if (count[outcome] <= printed) print(line)
    if (count[outcome] === printed) print(`further lines of this kind are only counted`)
  }
  return {
    made: (kind: DumpKind) => void (of(kind).made += 1),
    there: (kind: DumpKind) => void (of(kind).there += 1),
    /** An object that is not there now. */
    refused: (kind: DumpKind | 'dump', name: string, reason: string) =>
      problem(kind, 'refused', `not taken: ${kind} ${name}: ${reason}`),
    /** A part of an object that is not there now. */
    leftOut: (kind: DumpKind, name: string, part: string, reason: string) =>
      problem(kind, 'partial', `left out: ${part} of ${kind} ${name}: ${reason}`),
    counts: () => Object.fromEntries(counts),
    refusals: () => [...counts.values()].reduce((sum, { refused }) => sum + refused, 0),
  }
}

export type Report = ReturnType<typeof createReport>
