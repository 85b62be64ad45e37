import { table } from '../bench/statistics.ts'
import type { Problem } from './client-log.ts'

/** One injected fault. */
export interface Injected {
  fault: string
  details: string
  startedAt: number
  /** The start of the measurement of recovery. */
  endedAt: number
  recoveryMs: number | undefined
}

const unrelated = '(no fault)'

/** The problems by fault: each belongs to the newest fault that was injected before the problem ended. */
export function problemsByFault(injected: Injected[], problems: Problem[]): Map<string, Problem[]> {
  const groups = new Map<string, Problem[]>()
  for (const problem of problems) {
    const during = injected.findLast(
      ({ startedAt, endedAt }) => startedAt <= problem.until && endedAt + 30_000 >= problem.from,
    )
    const fault = during?.fault ?? unrelated
    groups.set(fault, [...(groups.get(fault) ?? []), problem])
  }
  return groups
}

/** The table of the report: fault (or step of an upgrade) × injected × lost × doubled × wrong × recovery. */
export function reportTable(injected: Injected[], problems: Problem[], of: 'fault' | 'step' = 'fault'): string {
  const groups = problemsByFault(injected, problems)
  const faults = [...new Set([...injected.map(({ fault }) => fault), ...groups.keys()])].toSorted()
  const row = (name: string, ones: Injected[], wrong: Problem[]) => {
    const times = ones
      .flatMap(({ recoveryMs }) => (recoveryMs === undefined ? [] : [recoveryMs / 1000]))
      .toSorted((a, b) => a - b)
    const seconds = (value: number | undefined) => (value === undefined ? '–' : value.toFixed(1))
    const count = (kind: Problem['kind']) => String(wrong.filter((problem) => problem.kind === kind).length)
    return [
      name,
      String(ones.length),
      count('lost'),
      count('doubled'),
      count('wrong'),
      seconds(times[Math.floor(times.length / 2)]),
      seconds(times.at(-1)),
    ]
  }
  const rows = faults.map((fault) =>
    row(
      fault,
      injected.filter((one) => one.fault === fault),
      groups.get(fault) ?? [],
    ),
  )
  return table(
    [
      of,
      of === 'fault' ? 'injected' : 'done',
      'lost',
      'doubled',
      'wrong',
      'recovery: median (s)',
      'recovery: worst (s)',
    ],
    [...rows, row('all', injected, problems)],
  )
}
