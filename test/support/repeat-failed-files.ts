import {
  countsOf,
  type Failure,
  failureLine,
  failureLines,
  type FileOutcome,
  firstOf,
  type Outcome,
} from './outcome.ts'

const limits = {
  /** With more failed files, the run has a fault of its own, and nothing is repeated. */
  repeatedFiles: 20,
  unstableFiles: 5,
  /** What hangs may not hold the run. */
  fileMs: 10 * 60_000,
  allMs: 20 * 60_000,
}

export interface Conclusion {
  passed: number
  failed: number
  /** What failed, then what is unstable. */
  lines: string[]
}

/**
 * Repeats each file that failed once, alone. The outcome of the repeat is that of the file: what failed and now passes
 * has passed, and is named as unstable; what fails again has failed. More than five unstable files are a failure, too.
 */
export async function repeatFailedFiles(
  outcomes: readonly Outcome[],
  repeat: (file: string, limitMs: number) => Promise<Outcome>,
  { repeatedFiles, unstableFiles, fileMs, allMs } = limits,
): Promise<Conclusion> {
  const first: Outcome = {
    files: outcomes.flatMap(({ files }) => files),
    outside: outcomes.flatMap(({ outside }) => outside),
  }
  const failed = first.files.filter(({ failures }) => failures.length > 0)
  const outside = [...first.outside]
  if (failed.length > repeatedFiles) {
    outside.push(`${failed.length} files failed, more than ${repeatedFiles}, so none was repeated`)
    return conclude({ ...first, outside }, [])
  }
  const repeated = new Map<string, FileOutcome>()
  const end = performance.now() + allMs
  for (const before of failed) {
    const limitMs = Math.min(fileMs, end - performance.now())
    if (limitMs > 0) repeated.set(before.file, repeatOf(before, await repeat(before.file, limitMs)))
    else outside.push(`no time was left to repeat ${before.file}`)
  }
  const unstable = failed
    .map((before) => ({ ...before, failures: onlyBefore(before, repeated.get(before.file)) }))
    .filter(({ failures }) => failures.length > 0)
  if (unstable.length > unstableFiles) outside.push(`${unstable.length} files are unstable, more than ${unstableFiles}`)
  return conclude({ files: first.files.map((before) => repeated.get(before.file) ?? before), outside }, unstable)
}

/** The outcome of the repeat. A test that failed must have run again: what is left out or skipped has not passed. */
function repeatOf(before: FileOutcome, { files, outside }: Outcome): FileOutcome {
  const after = files.find(({ file }) => file === before.file) ?? { file: before.file, passed: [], failures: [] }
  const failures = [...after.failures, ...outside.map((message) => ({ message }))]
  if (failures.length > 0) return { ...after, failures }
  const left = before.failures.filter((failure) => !hasPassed(failure, after))
  return { ...after, failures: left.map((failure) => ({ ...failure, message: 'did not run again' })) }
}

const onlyBefore = ({ failures }: FileOutcome, after: FileOutcome | undefined): Failure[] =>
  failures.filter((failure) => after && hasPassed(failure, after))

function hasPassed({ test }: Failure, after: FileOutcome): boolean {
  if (after.failures.some((failure) => failure.test === test)) return false
  // The failure of a suite's hook has the suite's name.
  return after.passed.some((name) => test === undefined || name === test || name.startsWith(`${test} > `))
}

function conclude(outcome: Outcome, unstable: readonly FileOutcome[]): Conclusion {
  const named = unstable.flatMap(({ file, failures }) =>
    failures.map((failure) => failureLine('unstable', file, failure)),
  )
  return { ...countsOf(outcome), lines: [...firstOf(failureLines(outcome)), ...firstOf(named)] }
}
